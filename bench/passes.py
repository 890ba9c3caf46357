"""Measure the passes on the kernels of the corpus: operations left, time, speedup. Write `docs/passes.md`.

    python -m bench.passes                      measure all kernels, and write the page
    python -m bench.passes --only matmul        only print the tables, for kernels whose names contain this word

Operations are counted after our passes, and after real Triton's passes on the same module; an operation in a loop
counts ten times. Times are processor times, the shortest of many turns. They are measured for the front end and the
passes, each with and without verification, and for generated NumPy code with and without passes.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import math
import statistics
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from mini_triton.codegen import compile_module
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer
from mini_triton.ir.verifier import verify
from mini_triton.transforms import manager
from mini_triton.transforms.manager import optimize

from bench import ROOT, frontend
from bench.backend import processor
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import inputs
from tests.oracles import triton
from tests.support import sources
from tests.support.m09_passes import EVERYTHING, MAKE_TTIR, count, left_by_theirs

PAGE = ROOT / "docs" / "passes.md"
SEED = 1
ROUNDS, SECONDS = 15, 0.5
"""The minimum number of turns of a comparison, and its minimum total time."""


class Counts(NamedTuple):
    """Numbers of operations in a kernel."""

    kernel: str
    before: int
    ours: int
    theirs: int  # after the passes of Triton's `make_ttir`
    least: int  # after all of Triton's passes that could leave fewer operations


class Compiled(NamedTuple):
    """Seconds to compile a kernel, with and without verification."""

    kernel: str
    front_end: float
    front_end_verified: float
    passes: float
    passes_verified: float


class Launched(NamedTuple):
    """Seconds that a launch of generated NumPy code takes."""

    kernel: str
    without: float
    passes: float


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.passes", description="Measure the passes on the corpus.")
    parser.add_argument("--only", metavar="WORDS", default="", help="only kernels whose names contain WORDS; no page")
    options = parser.parse_args(arguments)
    chosen = [case for case in CASES if options.only in str(case)]
    distinct = {case.kernel: case for case in chosen}.values()
    with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(io.StringIO()):  # kernels print, too
        counts = [count_operations(case) for case in chosen]
        compiled = [time_compilation(case) for case in distinct]
        launched = [row for case in chosen if (row := time_launch(case))]
    text = page(counts, compiled, launched)
    print(text)
    if not options.only:
        PAGE.write_text(text, encoding="utf-8")


# --- measuring


def text_of(case: Case) -> str:
    """The module from our front end, as text."""
    return print_module(sources.compiled(case.source(), str(case.path)), locations=True)


def count_operations(case: Case) -> Counts:
    """Count the operations of a kernel before and after passes."""
    text = text_of(case)
    before, after = parse_module(text), parse_module(text)
    optimize(after, manager.DEFAULT)
    theirs, least = (left_by_theirs(text, passes) for passes in (MAKE_TTIR, EVERYTHING))
    return Counts(str(case), count(before), count(after), theirs, least)


def time_compilation(case: Case) -> Compiled:
    """How long the front end and the passes take."""
    text, front_end = text_of(case), frontend.ours(case)

    def verify_front_end() -> float:
        module = parse_module(text)
        return frontend.timed(lambda: verify(module))

    def passes() -> float:
        module = parse_module(text)
        return frontend.timed(lambda: optimize(module, manager.DEFAULT))

    def passes_unverified() -> float:
        with mock.patch.object(manager, "verify_after", lambda stage, module: None):
            return passes()

    made, verified, fast, slow = best(front_end, verify_front_end, passes_unverified, passes)
    return Compiled(case.kernel, made, made + verified, fast, slow)


def time_launch(case: Case) -> Launched | None:
    """How long a launch takes without and with passes; None for a kernel that cannot be launched repeatedly."""
    text = text_of(case)
    values, hidden = inputs(case, SEED)
    if "tt.print" in text or hidden or any(isinstance(value, dict) for value in values):
        return None
    arguments: list[Any] = [
        Buffer.of(str(i), value) if isinstance(value, np.ndarray) else value for i, value in enumerate(values)
    ]

    def launch(module: Module) -> Callable[[], float]:
        program = compile_module(module)
        return lambda: frontend.timed(lambda: program(tuple(case.grid), arguments, []))

    before, after = parse_module(text), parse_module(text)
    optimize(after, manager.DEFAULT)
    return Launched(str(case), *best(launch(before), launch(after)))


def best(*contestants: Callable[[], float]) -> list[float]:
    """The shortest of the seconds that each contestant returns for a turn. Garbage collection is off."""
    least = [math.inf] * len(contestants)
    gc.collect()
    gc.disable()
    spent, turns = 0.0, 0
    while turns < ROUNDS or spent < SECONDS:
        taken = [take_turn() for take_turn in contestants]
        least = [min(pair) for pair in zip(least, taken, strict=True)]
        spent, turns = spent + sum(taken), turns + 1
    gc.enable()
    return least


# --- the page


def page(counts: Sequence[Counts], compiled: Sequence[Compiled], launched: Sequence[Launched]) -> str:
    """The page with all tables."""
    return "\n\n".join([
        "# Measurements of the passes",
        "<!-- not exported -->",
        "`python -m bench.passes` measures the kernels of the corpus and writes this page.",
        "<!-- exported -->",
        *operations(counts),
        *costs(compiled),
        *gains(launched),
        f"Each time is the shortest processor time of at least {ROUNDS} runs. Machine: {processor()}. NumPy "
        f"version: {np.__version__}.",
    ]) + "\n"  # fmt: skip


def operations(rows: Sequence[Counts]) -> list[str]:
    """The section on operations."""
    ratios, least = [row.ours / row.theirs for row in rows], [row.ours / row.least for row in rows]
    return [
        f"## Number of operations, compared with Triton {triton.version()}",
        "The table shows the number of operations in each kernel: before any passes, and after each of three "
        "pipelines. An operation counts ten times inside a loop, and a hundred times inside two nested loops. "
        "`make_ttir` is Triton's pipeline without loop unrolling, which would make kernels longer. *Everything* is "
        "`make_ttir`, followed by passes of Triton and MLIR that could remove more operations: "
        f"{', '.join(EVERYTHING[len(MAKE_TTIR) :])}.",
        table(
            ("kernel", "before", "our passes", "`make_ttir`", "ours / `make_ttir`", "everything", "ours / everything"),
            [
                (row.kernel, row.before, row.ours, row.theirs, ratio, row.least, other)
                for row, ratio, other in zip(rows, ratios, least, strict=True)
            ],
            ("geometric mean", "", "", "", statistics.geometric_mean(ratios), "", statistics.geometric_mean(least)),
            ("highest", "", "", "", max(ratios), "", max(least)),
        ),
    ]


def costs(rows: Sequence[Compiled]) -> list[str]:
    """The section on compile time."""
    lines = []
    for name, passes, front_end in (
        ("with verification", "passes_verified", "front_end_verified"),
        ("without verification", "passes", "front_end"),
    ):
        pairs = [(getattr(row, passes), getattr(row, front_end)) for row in rows]
        ours, theirs = (sum(column) * 1e3 for column in zip(*pairs, strict=True))
        mean = statistics.geometric_mean(mine / other for mine, other in pairs)
        lines.append((name, f"{theirs:.0f} ms", f"{ours:.0f} ms", ours / theirs, mean))
    return [
        "## Time of the passes, compared with the front end",
        f"Times are sums over {len(rows)} kernels. With verification, the verifier runs after the front end and "
        "after each pass that changes the module.",
        table(("", "front end", "all passes", "passes / front end", "geometric mean of the ratios"), lines),
    ]


def gains(rows: Sequence[Launched]) -> list[str]:
    """The section on the speed of generated NumPy code."""
    speedups = [row.without / row.passes for row in rows]
    return [
        "## Time of the generated NumPy code, with and without passes",
        "Times are in microseconds per launch.",
        table(
            ("kernel", "without passes", "with passes", "speedup"),
            [
                (row.kernel, f"{row.without * 1e6:.0f}", f"{row.passes * 1e6:.0f}", row.without / row.passes)
                for row in rows
            ],
            ("geometric mean", "", "", statistics.geometric_mean(speedups)),
            ("lowest", "", "", min(speedups)),
        ),
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], *ends: Sequence[Any]) -> str:
    """A table in Markdown; floats have two decimal places."""
    lines = [heads, ["---"] + ["--:"] * (len(heads) - 1), *rows, *ends]
    return "\n".join(f"| {' | '.join(f'{x:.2f}' if isinstance(x, float) else str(x) for x in row)} |" for row in lines)


if __name__ == "__main__":
    main()
