"""How fast kernels run on the NumPy back end, beside Triton's interpreter, plain NumPy and PyTorch on the CPU.

    python -m bench.backend                     all workloads: a table; JSON and a picture in .kata/bench/
    python -m bench.backend --targets           only those whose ratios are promised
    python -m bench.backend --only softmax      only those with this in their names
    python -m bench.backend --keep              the JSON goes to bench/results/, the picture to docs/images/

All get the same inputs, their results must agree, and then they take turns. Ours is launched through `mini_triton.jit`,
compiled before. The interpreter runs in a process of its own, one launch a turn. Times are medians. Memory is what our
launch holds at most, with its arguments.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import ROOT, chart, measure
from bench.measure import Result
from bench.workloads import WORKLOADS

ROUNDS, SLOW_ROUNDS = 15, 3
LAUNCH, COMPILE = 100e-6, 100e-3  # promised seconds
LEAST, MEAN = 80, 320  # promised ratios to the interpreter
SPARE = 256 << 20  # bytes that a launch may take beyond four times its arguments
WHO = {"ours": "ours", "interpreter": "interpreter", "numpy": "NumPy", "torch": "torch"}
RATIOS = {
    "interpreter / ours": ("interpreter", "ours"),
    "ours / NumPy": ("ours", "numpy"),
    "ours / torch": ("ours", "torch"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.backend", description="Kernels on the NumPy back end.")
    parser.add_argument("--targets", action="store_true", help="only workloads whose ratios are promised")
    parser.add_argument("--only", metavar="WORDS", default="", help="only workloads with this in their names")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each (%(default)s)")
    parser.add_argument("--slow-rounds", type=int, default=SLOW_ROUNDS, help="turns of the interpreter (%(default)s)")
    parser.add_argument(
        "--keep", action="store_true", help="put the numbers and the picture where the repository has them"
    )
    options = parser.parse_args(arguments)
    chosen = [w for w in WORKLOADS if options.only in w.name and (w.target or not options.targets)]
    console = Console(width=max(136, Console().width))
    with tempfile.TemporaryDirectory(prefix="kernels-") as folder:
        os.environ["MINI_TRITON_CACHE_DIR"] = folder  # the user's own cache stays as it is
        compiled, launched = measure.cold_compile(), measure.warm_launch()
        other = measure.Interpreter() if measure.Interpreter.is_here() else None
        results = []
        for workload in chosen:
            with console.status(workload.name):
                results.append(measure.measure(workload, other, options.rounds, options.slow_rounds))
        if other:
            other.close()
    report = {"machine": machine(), "rounds": options.rounds, "interpreter_rounds": options.slow_rounds}
    report |= {"compile_seconds": compiled, "launch_seconds": launched, "ratios": summary(results)}
    report |= {"workloads": {result.workload.name: entry(result) for result in results}}
    console.print(table(results))
    for line in sentences(report, results):
        console.print(line, highlight=False)
    for path in written(report, results, options.keep):
        console.print(f"[dim]{path.relative_to(ROOT)}[/dim]")


def table(results: Sequence[Result]) -> Table:
    """All numbers: a row a workload, those first whose ratios are promised."""
    columns = ["milliseconds", *WHO.values(), *RATIOS, "MiB"]
    result = Table(*columns, box=None, header_style="bold", padding=(0, 1))
    for column in result.columns:
        column.no_wrap, column.justify = True, "left" if column is result.columns[0] else "right"
    for number, row in enumerate(results):
        if number and row.workload.target != results[number - 1].workload.target:
            result.add_section()
            result.add_row()
        times = [f"{row.seconds[who] * 1e3:.3f}" if who in row.seconds else "" for who in WHO]
        ratios = [row.ratio(*pair) for pair in RATIOS.values()]
        shown = ["" if ratio is None else f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.2g}" for ratio in ratios]
        result.add_row(row.workload.name, *times, *shown, f"{(row.memory + row.data) / 2**20:.1f}")
    return result


def summary(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Of the workloads whose ratios are promised: the geometric mean of each ratio, the lowest, the highest."""
    found = {}
    for name, pair in RATIOS.items():
        ratios = [ratio for row in results if row.workload.target and (ratio := row.ratio(*pair)) is not None]
        if ratios:
            found[name] = {"mean": statistics.geometric_mean(ratios), "lowest": min(ratios), "highest": max(ratios)}
    return found


def sentences(report: dict[str, Any], results: Sequence[Result]) -> list[str]:
    """What the numbers say about what is promised."""
    lines = [""]
    targets = sum(row.workload.target for row in results)
    for name, ratio in report["ratios"].items():
        line = f"{name} on the first {targets}: geometric mean {ratio['mean']:.3g}"
        line += f", from {ratio['lowest']:.3g} to {ratio['highest']:.3g}"
        if name == "interpreter / ours":
            line += verdict(ratio["mean"] >= MEAN and ratio["lowest"] >= LEAST, f"mean {MEAN}, none below {LEAST}")
        lines.append(line)
    within = all(row.memory + row.data <= 4 * row.data + SPARE for row in results)
    lines.append("memory" + verdict(within, "at most four times the arguments and 256 MiB"))
    launch, compile = report["launch_seconds"], report["compile_seconds"]
    lines.append(f"warm launch of one program: {launch * 1e6:.0f} us" + verdict(launch <= LAUNCH, "at most 100 us"))
    lines.append(f"cold compile of attention: {compile * 1e3:.0f} ms" + verdict(compile <= COMPILE, "at most 100 ms"))
    if not measure.Interpreter.is_here():
        lines.append("Triton's interpreter is missing: install triton and torch.")
    return lines


def verdict(kept: bool, promise: str) -> str:
    """Whether a promise is kept."""
    return f" ([green]promised: {promise}[/green])" if kept else f" ([red]NOT as promised: {promise}[/red])"


def entry(result: Result) -> dict[str, Any]:
    """A workload in the JSON."""
    ratios = {name: result.ratio(*pair) for name, pair in RATIOS.items()}
    plain = {key: value for key, value in dataclasses.asdict(result).items() if key != "workload"}
    return {"target": result.workload.target, **plain, "ratios": ratios}


def machine() -> dict[str, Any]:
    """What it ran on."""
    packages = [name for name in ("numpy", "torch", "triton") if importlib.util.find_spec(name)]
    versions = {name: importlib.metadata.version(name) for name in packages}
    threads = os.environ["OMP_NUM_THREADS"]
    return {"processor": processor(), "threads": threads, "python": platform.python_version(), **versions}


def processor() -> str:
    """Its name."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def written(report: dict[str, Any], results: Sequence[Result], keep: bool) -> list[Path]:
    """The files with the numbers and with the picture."""
    folder = ROOT / ".kata" / "bench"
    numbers = ROOT / "bench" / "results" / "backend.json" if keep else folder / "backend.json"
    picture = ROOT / "docs" / "images" / "backend.svg" if keep else folder / "backend.svg"
    rows = {row.workload.name: {WHO[who]: row.seconds[who] for who in WHO if who in row.seconds} for row in results}
    for path, text in ((numbers, json.dumps(report, indent=1) + "\n"), (picture, chart.dots(rows))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [numbers, picture]


if __name__ == "__main__":
    main()
