"""How fast the kernels of milestone 8 are on a GPU, compiled by real Triton, beside PyTorch's own.

    python -m bench.kernels                  the reference's kernels: a table; JSON in .kata/bench/
    python -m bench.kernels --impl learner   yours
    python -m bench.kernels --only softmax   only those with this in their names
    python -m bench.kernels --keep           the JSON goes to bench/results/

Host functions are called as anyone would. Both sides take turns, with the same inputs; their results must agree. Of a
few sizes of tiles the best counts. Times are medians of the GPU's own, with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench import ROOT

if TYPE_CHECKING:
    from kernels.problems import Problem

TURNS = 5


@dataclass(frozen=True)
class Result:
    """Milliseconds, medians, and the choice of tiles that was best."""

    problem: Problem
    ours: float
    torch: float
    choice: dict[str, Any]

    def rate(self, milliseconds: float) -> float:
        """Work per second."""
        return self.problem.work / milliseconds / (1e9 if self.problem.unit == "TFLOP/s" else 1e6)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels", description="Kernels on a GPU, beside PyTorch's.")
    parser.add_argument("--impl", choices=("reference", "learner"), default="reference", help="whose kernels")
    parser.add_argument("--only", metavar="WORDS", default="", help="only problems with this in their names")
    parser.add_argument("--keep", action="store_true", help="put the numbers where the repository has them")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT / ("solutions" if options.impl == "reference" else "exercises")))
    os.environ["KERNELS_COMPILER"] = "triton"
    import torch

    if not torch.cuda.is_available():
        sys.exit(
            "These kernels are timed on a CUDA GPU, and PyTorch sees none here. For the CPU: python -m bench.backend"
        )
    console = Console(width=max(120, Console().width))
    from kernels.problems import builders

    results = []
    for build in builders("cuda"):
        problem = build("cuda")
        if options.only in problem.name:
            with console.status(problem.name):
                results.append(measured(problem))
    console.print(table(results))
    folder = ROOT / ("bench/results" if options.keep else ".kata/bench")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "kernels.json"
    path.write_text(json.dumps(report(results), indent=1) + "\n", encoding="utf-8")
    console.print(f"[dim]{path.relative_to(ROOT)}[/dim]")


def measured(problem: Problem) -> Result:
    """The best choice by a first look, then turns with PyTorch."""
    from triton.testing import do_bench

    expected = first(problem.torch())
    for choice in problem.choices:
        problem.close(first(problem.ours(**choice)), expected, problem.name)
    best = min(
        problem.choices, key=lambda choice: do_bench(lambda: problem.ours(**choice), 10, 30, return_mode="median")
    )
    turns = [
        [do_bench(run, 20, 60, return_mode="median") for run in (lambda: problem.ours(**best), problem.torch)]
        for _ in range(TURNS)
    ]
    ours, torch = (statistics.median(times) for times in zip(*turns, strict=True))
    return Result(problem, ours, torch, best)


def first(result: Any) -> Any:
    """The result itself, of a function with several."""
    return result[0] if isinstance(result, tuple | list) else result


def table(results: Sequence[Result]) -> Table:
    """A line for each problem."""
    shown = Table("kernel", *("ours, ms", "torch, ms", "torch / ours", "ours", "torch", "", "tiles"))
    for result in results:
        rates = [f"{result.rate(time):.0f}" for time in (result.ours, result.torch)]
        ratio = f"{result.torch / result.ours:.2f}"
        times = [f"{time:.3f}" for time in (result.ours, result.torch)]
        tiles = " ".join(f"{name}={value}" for name, value in sorted(spread(result.choice).items()))
        shown.add_row(result.problem.name, *times, ratio, *rates, result.problem.unit, tiles)
    return shown


def spread(choice: dict[str, Any]) -> dict[str, Any]:
    """A choice without the dictionary that tiles are in."""
    return {name: value for name, value in choice.items() if name != "tiles"} | choice.get("tiles", {})


def report(results: Sequence[Result]) -> dict[str, Any]:
    """Everything as JSON."""
    import torch
    import triton

    machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
    entries = {
        result.problem.name: {
            "milliseconds": {"ours": result.ours, "torch": result.torch},
            "torch / ours": result.torch / result.ours,
            result.problem.unit: {"ours": result.rate(result.ours), "torch": result.rate(result.torch)},
            "tiles": spread(result.choice),
        }
        for result in results
    }
    return {"machine": machine, "turns": TURNS, "kernels": entries}


if __name__ == "__main__":
    main()
