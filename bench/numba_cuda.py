"""Kernels on a GPU by our own back end for Numba, beside real Triton's: the same source, the same tiles.

    python -m bench.numba_cuda                  a table; JSON in .kata/bench/
    python -m bench.numba_cuda --only softmax   only those with this in their names
    python -m bench.numba_cuda --keep           the JSON goes to bench/results/

Both sides take turns; times are medians of the GPU's own, with an empty cache: while the GPU empties it, the host is
ahead with the next launch, so that its own time does not count. Results must agree with PyTorch's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench import ROOT
from bench.handoff import switch

if TYPE_CHECKING:
    from kernels.problems import Problem

TURNS = 9
BACKEND = "MINI_TRITON_BACKEND"
TILES = {  # that suit this back end: a thread multiplies in its own registers, without tensor cores
    "matmul 4096^3 float16": {"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 32, "num_warps": 4},
    "matmul 2048^3 float32": {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 16, "num_warps": 4},
}
NAMES = ("add 2^26", "softmax 4096x781", "softmax 8192x4096", *TILES)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.numba_cuda", description="Our back end for Numba on a GPU.")
    parser.add_argument("--only", metavar="WORDS", default="", help="only problems with this in their names")
    parser.add_argument("--keep", action="store_true", help="put the numbers where the repository has them")
    options = parser.parse_args(arguments)
    import torch

    if not torch.cuda.is_available():
        sys.exit("This needs a CUDA GPU, and PyTorch sees none here.")
    console = Console(width=max(120, Console().width))
    sides = []
    for compiler in ("mini_triton", "triton"):
        switch(compiler)
        from kernels.problems import ON_GPU

        sides.append([build("cuda") for group in ("additions", "softmaxes", "products") for build in ON_GPU[group]])
    entries = {}
    for mine, other in zip(*sides, strict=True):
        if mine.name in NAMES and options.only in mine.name:
            with console.status(mine.name):
                entries[mine.name] = compared(mine, other)
    console.print(table(entries))
    folder = ROOT / ("bench/results" if options.keep else ".kata/bench")
    folder.mkdir(parents=True, exist_ok=True)
    report = {"gpu": torch.cuda.get_device_name(), "kernels": entries}
    (folder / "numba_cuda.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def compared(mine: Problem, other: Problem) -> dict[str, Any]:
    """Times of both, in turns, and their rates."""
    from triton.testing import do_bench

    choice = other.choices[0]
    tiles = {"tiles": TILES[mine.name]} if mine.name in TILES else choice
    ours = partial(on_numba, mine.ours, tiles)
    got, expected = ours(), mine.torch()
    mine.close(got, expected, mine.name)
    runs = {"ours": ours, "triton": partial(other.ours, **choice), "torch": mine.torch}
    turns = [{name: do_bench(run, 20, 60, return_mode="median") for name, run in runs.items()} for _ in range(TURNS)]
    times = {name: statistics.median(turn[name] for turn in turns) for name in runs}
    rates = {name: mine.work / time / (1e9 if mine.unit == "TFLOP/s" else 1e6) for name, time in times.items()}
    ratio, off = times["triton"] / times["ours"], difference(got, expected)
    return {"milliseconds": times, "rates": rates, "unit": mine.unit, "of Triton": ratio, "difference": off}


def on_numba(host: Callable[..., Any], choice: dict[str, Any]) -> Any:
    """Call a host function whose kernels Numba compiles."""
    os.environ[BACKEND] = "numba_cuda"
    try:
        return host(**choice)
    finally:
        del os.environ[BACKEND]


def difference(got: Any, expected: Any) -> float:
    """The largest, relative to the largest result."""
    expected = expected.double()
    return float((got.double() - expected).abs().max() / expected.abs().max())


def table(entries: dict[str, dict[str, Any]]) -> Table:
    """A line for each kernel."""
    shown = Table("kernel", "ours, ms", "Triton, ms", "torch, ms", "ours", "Triton", "torch", "unit", "ours / Triton's")
    for name, entry in entries.items():
        times = [f"{entry['milliseconds'][who]:.4f}" for who in ("ours", "triton", "torch")]
        rates = [f"{entry['rates'][who]:.1f}" for who in ("ours", "triton", "torch")]
        shown.add_row(name, *times, *rates, entry["unit"], f"{entry['of Triton']:.2f}")
    return shown


if __name__ == "__main__":
    main()
