"""The same kernels on a GPU from our TTIR and from real Triton's: their times, their PTX, and what a launch costs.

    python -m bench.handoff                  a table; JSON in .kata/bench/
    python -m bench.handoff --only softmax   only those with this in their names
    python -m bench.handoff --keep           the JSON goes to bench/results/

The kernels are milestone 8's, of the same source and with the same tiles. Both sides take turns; times of kernels are
medians of the GPU's own. The host's time of a warm launch is the clock's, of many launches of one program each.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from bench import ROOT

if TYPE_CHECKING:
    from kernels.problems import Problem

TURNS = 9
SAME = 0.03  # how far ratios may be from 1
ACCESS = re.compile(r"\b(?:(?:ld|st|red|atom)\.global\S*|cp\.async\S*|(?:wg)?mma\.\S+)")


@dataclass
class Side:
    """One of the compilers: its problems, and the PTX of the kernels that they launched last."""

    problems: list[Problem]
    ptx: dict[str, str] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.handoff", description="Our TTIR beside real Triton's.")
    parser.add_argument("--only", metavar="WORDS", default="", help="only problems with this in their names")
    parser.add_argument("--keep", action="store_true", help="put the numbers where the repository has them")
    options = parser.parse_args(arguments)
    import torch

    if not torch.cuda.is_available():
        sys.exit("This needs a CUDA GPU, and PyTorch sees none here.")
    console = Console(width=max(120, Console().width))
    ours, theirs = (Side(of_compiler(compiler)) for compiler in ("mini_triton", "triton"))
    entries = {}
    for mine, other in zip(ours.problems, theirs.problems, strict=True):
        if options.only in mine.name:
            with console.status(mine.name):
                entries[mine.name] = compared(mine, other)
    hosts = {compiler: warm_launch(compiler, torch) for compiler in ("mini_triton", "triton")}
    console.print(table(entries))
    ratio = hosts["mini_triton"] / hosts["triton"]
    console.print(f"A warm launch: ours {hosts['mini_triton']:.1f} us, Triton's {hosts['triton']:.1f} us ({ratio:.2f})")
    folder = ROOT / ("bench/results" if options.keep else ".kata/bench")
    folder.mkdir(parents=True, exist_ok=True)
    report = {"gpu": torch.cuda.get_device_name(), "kernels": entries, "launch, us": hosts}
    (folder / "handoff.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def of_compiler(compiler: str) -> list[Problem]:
    """The problems, with the kernels compiled by one of both."""
    switch(compiler)
    from kernels.problems import ON_GPU

    groups = ("additions", "softmaxes", "norms", "products", "attentions")
    return [build("cuda") for group in groups for build in ON_GPU[group]]


def switch(compiler: str) -> None:
    """The kernels' modules that are imported from now on are for this compiler."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]
    os.environ["KERNELS_COMPILER"] = compiler


def compared(mine: Problem, other: Problem) -> dict[str, Any]:
    """Times of both, in turns, and what differs in their PTX."""
    from triton.testing import do_bench

    choice = mine.choices[0]
    with compiled() as kernels:
        mine.ours(**choice)
        other.ours(**choice)
    counts = {name: [dict(counted(kernel.asm["ptx"])) for kernel in made] for name, made in kernels.items()}
    runs = (lambda: mine.ours(**choice), lambda: other.ours(**choice))
    turns = [[do_bench(run, 20, 60, return_mode="median") for run in runs] for _ in range(TURNS)]
    ours, theirs = (statistics.median(times) for times in zip(*turns, strict=True))
    same = counts["mini_triton"] == counts["triton"]
    return {"ours, ms": ours, "triton, ms": theirs, "ratio": ours / theirs, "same": same, "instructions": counts}


@contextmanager
def compiled() -> Iterator[dict[str, list[Any]]]:
    """The kernels that are launched meanwhile, in order, by their compilers."""
    import triton
    from mini_triton.runtime.jit import JITFunction

    made: dict[str, list[Any]] = {"mini_triton": [], "triton": []}

    def noted(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def launch(*arguments: Any, **keywords: Any) -> Any:
            kernel = original(*arguments, **keywords)
            made[name].append(kernel)
            return kernel

        return launch

    with (
        mock.patch.object(JITFunction, "launch", noted("mini_triton", JITFunction.launch)),
        mock.patch.object(triton.JITFunction, "run", noted("triton", triton.JITFunction.run)),
    ):
        yield made


def counted(ptx: str) -> Counter[str]:
    """How often memory is accessed, by widths, and tensor cores are used."""
    return Counter(ACCESS.findall(ptx))


def warm_launch(compiler: str, torch: Any, turns: int = 30, calls: int = 500) -> float:
    """Microseconds of the host for a launch of one program that adds 1024 numbers, of a kernel launched before."""
    switch(compiler)
    from kernels.vector_add import add_kernel

    x, y, out = (torch.zeros(1024, device="cuda") for _ in range(3))

    def run() -> None:
        for _ in range(calls):
            add_kernel[(1,)](x, y, out, 1024, BLOCK=1024)

    times = []
    for _ in range(turns):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) / calls * 1e6)
        torch.cuda.synchronize()
    return statistics.median(times)


def table(entries: dict[str, dict[str, Any]]) -> Table:
    """A line for each kernel."""
    shown = Table("kernel", "ours, ms", "Triton, ms", "ours / Triton", "accesses and tensor cores in PTX")
    for name, entry in entries.items():
        ratio = f"{entry['ratio']:.3f}"
        ratio = ratio if abs(entry["ratio"] - 1) <= SAME else f"[red]{ratio}[/red]"
        same = "equal" if entry["same"] else "[red]different[/red]"
        shown.add_row(name, f"{entry['ours, ms']:.4f}", f"{entry['triton, ms']:.4f}", ratio, same)
    return shown


if __name__ == "__main__":
    main()
