"""What our passes leave of the corpus, beside real Triton's on the same modules: `nox -s bench -- passes`.

Prints a table in Markdown. Operations in loops count ten times. Times are of generated NumPy without and with passes,
taken in turns, the best of each.
"""

from __future__ import annotations

from bench import clock  # isort: skip  (it says where mini_triton is)

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.codegen import compile_module
from mini_triton.ir.core import Module
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer
from mini_triton.transforms.manager import optimize

from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import inputs
from tests.support import sources
from tests.support.m09_passes import count, left_by_theirs

SEED = 1
SECONDS = 0.3  # for each kernel
MOST = 300  # launches


def times(case: Case, modules: Sequence[Module]) -> list[float]:
    """Seconds that a launch of each module takes; none for kernels that cannot be launched again and again."""
    values, hidden = inputs(case, SEED)
    printing = any(operation.name == "tt.print" for operation in modules[0].walk())
    if printing or hidden or any(isinstance(value, dict) for value in values):
        return []
    arguments: list[Any] = [
        Buffer.of(str(i), value) if isinstance(value, np.ndarray) else value for i, value in enumerate(values)
    ]
    programs = [compile_module(module) for module in modules]
    best = [math.inf] * len(modules)
    start = clock()
    for _ in range(MOST):
        for i, program in enumerate(programs):
            begin = clock()
            program(tuple(case.grid), arguments, [])
            best[i] = min(best[i], clock() - begin)
        if clock() - start > SECONDS:
            break
    return best


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    """Print the table."""
    print("| kernel | operations | our passes | Triton's | ours / theirs | NumPy, times as fast |")
    print("|---|---|---|---|---|---|")
    ratios, speedups = [], []
    for case in CASES:
        text = print_module(sources.compiled(case.source(), str(case.path)))
        before, after = parse_module(text), parse_module(text)
        optimize(after)
        ours, theirs = count(after), left_by_theirs(text)
        ratios.append(ours / theirs)
        taken = times(case, [before, after])
        speedups += [taken[0] / taken[1]] if taken else []
        faster = f"{speedups[-1]:.2f}" if taken else ""
        print(f"| {case} | {count(before)} | {ours} | {theirs} | {ratios[-1]:.2f} | {faster} |")
    print(f"| geometric mean | | | | {mean(ratios):.3f} | {mean(speedups):.3f} |")
    print(f"| worst | | | | {max(ratios):.2f} | {min(speedups):.2f} |")


if __name__ == "__main__":
    main()
