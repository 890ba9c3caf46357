"""The kernels of milestone 8, tuned, beside their defaults and PyTorch: a table, a page, and a picture.

    python -m bench.tuning                      on this machine's GPU if there is one, otherwise on its CPU
    python -m bench.tuning --backend numba      with another back end for the CPU
    python -m bench.tuning --sweep              and a heat map of matmul's occupancy, which takes minutes to compile
    python -m bench.tuning --picture docs/images/tuning.svg

On a CPU all sides take turns, and the fastest run counts: others may use the machine. On a GPU times are those of CUDA
graphs, which contain no time of the host's.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import mini_triton.language as tl
import numpy as np
import torch
from kernels import conv2d, dropout, flash_attention, matmul, softmax, tuned, vector_add
from mini_triton.testing import do_bench, do_bench_cudagraph
from mini_triton.tuning.given import pictures
from mini_triton.tuning.occupancy import sweep
from rich.console import Console
from rich.table import Table
from torch.nn import functional

from bench import ROOT, chart

TURNS = 5
GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
TARGET = "sm_90"


@dataclass(frozen=True)
class Case:
    """A problem, who solves it, how much work it is: floating-point operations, bytes that must be moved."""

    name: str
    ours: Callable[..., Any]  # with a tuned `kernel`, or without
    tuner: Any
    torch: Callable[[], Any]
    operations: float
    bytes: float


@dataclass(frozen=True)
class Result:
    """Milliseconds."""

    case: Case
    default: float
    tuned: float
    torch: float


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def cases() -> list[Case]:
    """Problems of a size that suits the device."""
    n, rows, columns = (1 << 26, 8192, 4096) if GPU else (1 << 20, 1024, 5000)
    size, heads, length = (4096, 32, 4096) if GPU else (512, 4, 512)
    images, channels, filters = (32, 256, 256) if GPU else (4, 32, 64)
    dtype = torch.float16 if GPU else torch.float32
    x, y, matrix = random(n), random(n), random(rows, columns)
    a, b = random(size, size, dtype=dtype), random(size, size, dtype=dtype)
    q, k, v = (random(2, heads, length, 64, dtype=dtype) for _ in range(3))
    pixels, w = random(images, channels, 28, 28, dtype=dtype), random(filters, channels, 3, 3, dtype=dtype)
    item = a.itemsize
    return [
        Case("add", lambda **o: vector_add.add(x, y, **o), tuned.add, lambda: x + y, n, 12 * n),
        Case("dropout", lambda **o: dropout.dropout(x, 0.5, 1, **o), tuned.dropout,
             lambda: torch.dropout(x, 0.5, True), 10 * n, 8 * n),
        Case("softmax", lambda **o: softmax.softmax(matrix, **o), tuned.online_softmax,
             lambda: matrix.softmax(1), 5 * rows * columns, 8 * rows * columns),
        Case("matmul", lambda **o: matmul.matmul(a, b, **o), tuned.matmul,
             lambda: a @ b, 2 * size**3, 3 * size**2 * item),
        Case("attention", lambda **o: flash_attention.attention(q, k, v, **o)[0], tuned.attention,
             lambda: functional.scaled_dot_product_attention(q, k, v),
             8 * heads * length**2 * 64, 4 * q.numel() * item),
        Case("conv2d", lambda **o: conv2d.conv2d(pixels, w, padding=1, **o), tuned.conv2d,
             lambda: functional.conv2d(pixels, w, padding=1),
             2 * images * filters * channels * 9 * 28**2, (pixels.numel() + w.numel()) * item),
    ]  # fmt: skip


def measured(case: Case) -> Result:
    """Tune, check the result, and take turns."""
    sides = (case.ours, lambda: case.ours(kernel=case.tuner), case.torch)
    default, result, expected = (side() for side in sides)
    judge = default if case.name == "dropout" else expected  # PyTorch draws other numbers
    off = (result.double() - judge.double()).abs().max() / judge.double().abs().max()
    assert off < 1e-2, f"{case.name} is off by {off}"
    if GPU:
        turns = [[do_bench_cudagraph(side, return_mode="median") for side in sides] for _ in range(TURNS)]
        return Result(case, *map(median, zip(*turns, strict=True)))
    turns = [[do_bench(side, 5, 30, return_mode="min") for side in sides] for _ in range(TURNS)]
    return Result(case, *map(min, zip(*turns, strict=True)))


def table(results: Sequence[Result]) -> Table:
    """A line for each kernel."""
    shown = Table("kernel", "default, ms", "tuned, ms", "torch, ms", "default / tuned", "torch / tuned", "choice")
    for result in results:
        times = [f"{time:.3f}" for time in (result.default, result.tuned, result.torch)]
        ratios = [f"{time / result.tuned:.2f}" for time in (result.default, result.torch)]
        shown.add_row(result.case.name, *times, *ratios, choice(result.case.tuner))
    means = [
        f"{geometric_mean(getattr(result, side) / result.tuned for result in results):.2f}"
        for side in ("default", "torch")
    ]
    shown.add_section()
    shown.add_row("geometric mean", "", "", "", *means, "")
    return shown


def picture(results: Sequence[Result]) -> str:
    """The times as dots."""
    sides = ("default", "tuned", "torch")
    return chart.dots({result.case.name: {side: getattr(result, side) / 1e3 for side in sides} for result in results})


def choice(tuner: Any) -> str:
    """The configuration that was chosen, in short."""
    config = tuner.best_config
    options = {name: getattr(config, name) for name in ("num_warps", "num_stages")} if GPU else {}
    return " ".join(f"{name}={value}" for name, value in {**config.kwargs, **options}.items())


def page(folder: Path, results: Sequence[Result], heat: str) -> Path:
    """The table, the roof and the heat map as a page."""
    sections = [f"<h1>Tuned kernels on {machine()}</h1>", picture(results)]
    console = Console(file=io.StringIO(), record=True, width=140)
    console.print(table(results))
    sections.append(f"<pre>{escape(console.export_text())}</pre>")
    if pictures.can_draw():
        points = [(r.case.name, r.case.operations / r.case.bytes, r.case.operations / r.tuned * 1e3) for r in results]
        peak, bandwidth = measured_peak(), measured_bandwidth()
        roof = [(f"{peak / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.0f} GB/s: PyTorch's matmul and copy",
                 lambda intensity: tuned.attainable(intensity, peak, bandwidth))]  # fmt: skip
        pictures.scatter(folder / "roof.png", roof, points)
        sections.append('<h2>The roof</h2><p><img src="roof.png" alt="operations per second by intensity"></p>')
    if heat:
        sections.append(f"<h2>Occupancy of matmul in fp16 on {TARGET}</h2>{heat}")
    path = folder / "results.html"
    pictures.write_page(path, "Tuned kernels", sections)
    return path


def machine() -> str:
    return torch.cuda.get_device_name() if GPU else f"a CPU with {os.cpu_count()} cores"


def measured_peak() -> float:
    """Operations per second of PyTorch's matrix product."""
    size, dtype = (8192, torch.float16) if GPU else (1024, torch.float32)
    a = random(size, size, dtype=dtype)
    return 2 * size**3 / do_bench(lambda: a @ a, return_mode="min") * 1e3


def measured_bandwidth() -> float:
    """Bytes per second of PyTorch's copies of memory that no cache holds."""
    x = random(1 << 28 if GPU else 1 << 26)
    y = torch.empty_like(x)
    return 2 * x.nbytes / do_bench(lambda: y.copy_(x), return_mode="min") * 1e3


def heat_map() -> str:
    """Occupancy of a matrix product by tiles, warps and stages."""
    halves = (np.float16,) * 3
    arguments = (*halves, 4096, 4096, 4096, 4096, 1, 4096, 1, 4096, 1)
    constants: dict[str, list[Any]] = {"GROUP": [8], "ACTIVATION": [""], "TOTAL": [tl.float32]}
    tiles = {"BLOCK_M": [64, 128], "BLOCK_N": [128, 256], "BLOCK_K": [64]}
    options = {"num_stages": [2, 3, 4], "num_warps": [4, 8]}
    cells = sweep(matmul.matmul_kernel, arguments, constants | tiles | options, TARGET)
    return pictures.heat_map(cells, "num_warps")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.tuning", description="Tuned kernels beside their defaults.")
    parser.add_argument("--backend", help="for the CPU, as MINI_TRITON_BACKEND")
    parser.add_argument("--only", default="", help="kernels with this in their names")
    parser.add_argument("--sweep", action="store_true", help="with a heat map of matmul's occupancy")
    parser.add_argument("--to", type=Path, default=ROOT / ".kata/bench/tuning", help="a folder for the page")
    parser.add_argument("--picture", type=Path, help="a file for the chart, in SVG")
    options = parser.parse_args(arguments)
    if options.backend:
        os.environ["MINI_TRITON_BACKEND"] = options.backend
    torch.manual_seed(0)
    console = Console(width=max(140, Console().width))
    results = []
    for case in cases():
        if options.only in case.name:
            with console.status(case.name):
                results.append(measured(case))
    console.print(table(results))
    options.to.mkdir(parents=True, exist_ok=True)
    console.print(f"[dim]{page(options.to, results, heat_map() if options.sweep else '')}[/dim]")
    if options.picture:
        options.picture.write_text(picture(results), encoding="utf-8")


if __name__ == "__main__":
    main()
