"""Tuned kernels beside those of milestone 8 and PyTorch's: a table, a page, and a picture.

    python -m bench.tuning                      on this machine's GPU: the fast kernels, beside real Triton as well
    python -m bench.tuning --cpu                on its CPU: milestone 8's, tuned, with both back ends
    python -m bench.tuning --sweep              and a heat map of matmul's occupancy, which takes minutes to compile
    python -m bench.tuning --keep               numbers, table and pictures go where the repository has them
    python -m bench.tuning --keep --only conv   the same for some kernels: the others keep the same machine's numbers
    python -m bench.tuning --draw results.json  the same of an earlier run's numbers

On a GPU times are those of CUDA graphs, which contain no time of the host's.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Sequence
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import mini_triton.language as tl
import numpy as np
import torch
from kernels import matmul, tuned
from mini_triton.backends.occupancy import sweep
from mini_triton.testing import do_bench
from mini_triton.tuning import pictures
from rich.console import Console

from bench import ROOT, chart
from bench.tuning_report import Result, load, markdown, save, table

TARGET = "sm_90"
KEPT = ROOT / "bench/results/tuning.json"
BEGIN, END = "<!-- tuning -->", "<!-- end -->"
"""Around the table in `docs/fast_kernels.md`."""


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.tuning", description="Tuned kernels beside their defaults.")
    parser.add_argument("--cpu", action="store_true", help="the CPU, even if there is a GPU")
    parser.add_argument("--only", default="", help="kernels with this in their names")
    parser.add_argument("--sweep", action="store_true", help="with a heat map of matmul's occupancy")
    parser.add_argument("--to", type=Path, default=ROOT / ".kata/bench/tuning", help="a folder for page and numbers")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="measure nothing: draw these numbers")
    parser.add_argument(
        "--keep", action="store_true", help="put numbers, table and pictures where the repository has them"
    )
    options = parser.parse_args(arguments)
    console = Console(width=max(200, Console().width))
    options.to.mkdir(parents=True, exist_ok=True)
    if options.draw:
        machine, results = load(options.draw)
    else:
        torch.manual_seed(0)
        machine, results = measure(options, console)
    console.print(table(results))
    save(options.to / "results.json", machine, results)
    console.print(f"[dim]{page(options.to, machine, results, heat_map() if options.sweep else '')}[/dim]")
    if options.keep:
        keep(machine, with_earlier(machine, results) if options.only else results)


def with_earlier(machine: str, results: Sequence[Result]) -> list[Result]:
    """These results in place of the repository's, and the repository's other results of the same machine."""
    earlier_machine, earlier = load(KEPT)
    kept = {result.name: result for result in earlier if earlier_machine == machine}
    return list((kept | {result.name: result for result in results}).values())


def keep(machine: str, results: Sequence[Result]) -> None:
    """Put the numbers into `bench/results/`, the picture into `docs/images/` and the table into its page."""
    save(KEPT, machine, results)
    for shade, dark in (("light", False), ("dark", True)):
        (ROOT / f"docs/images/tuning-{shade}.svg").write_text(picture(machine, results, dark), encoding="utf-8")
    page = ROOT / "docs/fast_kernels.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(f"{BEGIN}\n")
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{markdown(machine, results)}{END}{after}", encoding="utf-8")


def measure(options: argparse.Namespace, console: Console) -> tuple[str, list[Result]]:
    """The machine, and what it measured; each result is said and kept as it comes."""
    if torch.cuda.is_available() and not options.cpu:
        from bench import tuning_gpu

        machine, coming = torch.cuda.get_device_name(), tuning_gpu.results(options.only, console.out)
    else:
        from bench import tuning_cpu

        machine = f"a CPU with {os.cpu_count()} cores"
        coming = chain.from_iterable(tuning_cpu.results(options.only, each) for each in tuning_cpu.BACKENDS)
    results: list[Result] = []
    for result in coming:
        results.append(result)
        times = ", ".join(f"{side} {time:.4f}" for side, time in result.milliseconds.items())
        console.out(f"{result.name}: {times}; torch / tuned {result.ratio('torch'):.2f}", highlight=False)
        save(options.to / "results.json", machine, results)
    return machine, results


def picture(machine: str, results: Sequence[Result], dark: bool) -> str:
    """How many times as fast as PyTorch each kernel is, as bars."""
    ratios = {result.name: result.ratio("torch") or 0.0 for result in results}
    return chart.bars(ratios, f"times as fast as PyTorch on {machine}", dark)


def page(folder: Path, machine: str, results: Sequence[Result], heat: str) -> Path:
    """The picture, the table, the roof, the choices and the heat map as a page."""
    console = Console(file=io.StringIO(), record=True, width=240)
    console.print(table(results))
    sections = [
        f"<h1>Tuned kernels on {machine}</h1>",
        picture(machine, results, dark=False),
        f"<pre>{escape(console.export_text())}</pre>",
    ]
    if torch.cuda.is_available() and pictures.can_draw():
        points = [(r.name, r.operations / r.bytes, r.operations / r.milliseconds["tuned"] * 1e3) for r in results]
        peak, bandwidth = measured_peak(), measured_bandwidth()
        roof = [(f"{peak / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.0f} GB/s: PyTorch's matmul and copy",
                 lambda intensity: tuned.attainable(intensity, peak, bandwidth))]  # fmt: skip
        pictures.scatter(folder / "roof.png", roof, points)
        sections.append('<h2>The roof</h2><p><img src="roof.png" alt="operations per second by intensity"></p>')
    sections.append("<h2>What was chosen</h2><table>")
    for result in results:
        for kernel, choice in result.choices.items():
            words = " ".join(f"{name}={value}" for name, value in choice.items())
            sections.append(f"<tr><th>{escape(result.name)}</th><td>{kernel}</td><td>{escape(words)}</td></tr>")
    sections.append("</table>")
    if heat:
        sections.append(f"<h2>Occupancy of matmul in fp16 on {TARGET}</h2>{heat}")
    path = folder / "results.html"
    pictures.write_page(path, "Tuned kernels", sections)
    return path


def measured_peak() -> float:
    """Operations per second of PyTorch's matrix product."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    return 2 * 8192**3 / do_bench(lambda: a @ a, return_mode="min") * 1e3


def measured_bandwidth() -> float:
    """Bytes per second of PyTorch's copies of memory that no cache holds."""
    x = torch.randn(1 << 28, device="cuda")
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


if __name__ == "__main__":
    main()
