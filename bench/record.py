"""One whole run on a GPU, kept as `docs/gpu_run.md`: verdicts, random kernels, times.

    python3 -m bench.record              needs a CUDA GPU, torch, Triton, pytest, hypothesis, NumPy, rich
    python3 -m bench.record --to FOLDER  writes gpu_run.md there instead

The reference is graded, and the untouched stubs; random kernels go through both compilers; then come the benchmarks.
The page is written after each benchmark, so that a run that is stopped leaves what it measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bench import ROOT

SMALL = "A time below 0.1 ms may be the host's, if launching the kernel takes longer than running it."
FUSED = """Programs run forward and, if they have gradients, backward. `kernels + calls` counts generated kernels and
calls to PyTorch's operators."""
BENCHMARKS = (
    ("The same kernels compiled from our TTIR and from real Triton's", "bench.handoff", "--keep"),
    (f"Our kernels compared with PyTorch's\n\n{SMALL}", "bench.kernels", "--keep"),
    (f"Our fused programs compared with Inductor's\n\n{FUSED}", "bench.fusion"),
)
FUZZ = ("tests/mini_triton/test_numpy_fuzz.py", "tests/mini_triton/test_transforms.py", "-k", "on_a_gpu", "-n", "8")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 if a part of it failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.record", description="A whole run on a GPU, kept as a page.")
    parser.add_argument("--to", type=Path, default=ROOT / "docs", metavar="FOLDER", help="where the page goes")
    options = parser.parse_args(arguments)
    with ThreadPoolExecutor() as side_by_side:  # nothing here is timed
        grading, grading_stubs = (side_by_side.submit(grade, impl) for impl in ("reference", "learner"))
        fuzzing = side_by_side.submit(run, "-m", "pytest", *FUZZ, "--quiet", "--impl", "reference", "--device", "cuda")
    (reference, graded), (stubs, _), fuzz = grading.result(), grading_stubs.result(), fuzzing.result()
    page = [
        header(reference),
        *verdicts(reference, stubs),
        f"## Random kernels\n\nTen tests draw a hundred kernels each. Real Triton compiles each kernel from its "
        f"source and from our TTIR. Both versions run on the GPU, and the kernel also runs in NumPy. All "
        f"results must agree. A thousand more kernels run on the GPU with and without our passes.\n\n"
        f"{fenced(fuzz.output)}",
    ]  # fmt: skip
    parts = [graded, fuzz]
    for title, *command in BENCHMARKS:
        parts.append(run("-m", *command))
        page.append(f"## {title}\n\n{fenced(parts[-1].output)}")
        (options.to / "gpu_run.md").write_text("\n\n".join([*page, took(parts)]) + "\n", encoding="utf-8")
    return 0 if reference["score"] == reference["max_score"] and all(part.code == 0 for part in parts) else 1


@dataclass(frozen=True)
class Part:
    """What a command printed, what it ended with, and how long it took."""

    output: str
    code: int
    seconds: float


def grade(impl: str) -> tuple[dict[str, Any], Part]:
    """The JSON report on all milestones, and how it was made."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        part = run("-m", "grader", "grade", "all", "--impl", impl, "--device", "cuda", "--json", str(path))
        return json.loads(path.read_text()), part


def run(*command: str) -> Part:
    """A command of Python's. What it says of errors is of interest only if there was one."""
    start = time.perf_counter()
    variables = os.environ | {"COLUMNS": "120"}  # what fits on the page
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, env=variables)
    output = done.stdout + (done.stderr[-2000:] if done.returncode else "")
    seconds = time.perf_counter() - start
    print(f"{' '.join(command[:3])}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return Part(output.strip(), done.returncode, seconds)


def header(report: dict[str, Any]) -> str:
    """What it ran on."""
    import torch

    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    judges = ", ".join(f"{name}: {tier}" for name, tier in report["oracles"].items())
    return (
        "# One run on a GPU\n\n`python3 -m bench.record` wrote this page.\n\n"
        f"- {date.today().isoformat()}, {torch.cuda.get_device_name()}\n- {versions}\n- judges: {judges}"
    )


def verdicts(report: dict[str, Any], stubs: dict[str, Any]) -> list[str]:
    """The score of each milestone; the stubs'."""
    lines = ["| milestone | points | tests | seconds |", "|---|--:|--:|--:|"]
    for milestone in report["milestones"]:
        tests = [test for task in milestone["tasks"] for test in task["tests"]]
        seconds = sum(test["seconds"] for test in tests)
        points = f"{milestone['score']} of {milestone['max_score']}"
        lines.append(f"| {milestone['key']} | {points} | {len(tests)} | {seconds:.0f} |")
    return [
        "## Verdicts",
        f"`python3 -m grader grade all --impl reference --device cuda`: **{report['score']} of {report['max_score']} "
        f"points** in {report['seconds']:.0f} s. The table shows how many seconds the tests took in total; "
        f"they run in parallel.",
        "\n".join(lines),
        f"The untouched stubs score {stubs['score']} of {stubs['max_score']} points.",
    ]


def took(parts: Sequence[Part]) -> str:
    """How long each part took."""
    *times, last = [f"{part.seconds:.0f}" for part in parts]
    return f"The parts of this run, in the order of this page, took {', '.join(times)} and {last} seconds."


def fenced(output: str) -> str:
    """A command's output as it is, without colors."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    return f"```text\n{plain}\n```"


if __name__ == "__main__":
    sys.exit(main())
