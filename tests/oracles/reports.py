"""Real Triton's recorded `perf_report`: its calls to a function, and the file that it writes.

    reports.load()[0]   # a seed of `benchmarks.draw`, the calls, the lines of the CSV file

With pandas and matplotlib installed, record the answers again by

    python -m tests.oracles.reports [--check]
"""

import sys
from typing import Any, NamedTuple

from tests.oracles import tables, triton

CASES = 24


class Answer(NamedTuple):
    """The result of a case."""

    seed: int
    calls: list[dict[str, Any]]
    lines: list[str]


def load() -> list[Answer]:
    """All answers."""
    return [Answer(*row) for row in tables.load("reports")["answers"]]


def ask() -> list[Answer]:
    """The behavior of the installed Triton."""
    requests = [{"do": "tuning.report", "seed": seed} for seed in range(CASES)]
    answers = triton.insist_on("frontend", requests)
    return [Answer(seed, answer["calls"], answer["lines"]) for seed, answer in enumerate(answers)]


if __name__ == "__main__":
    sys.exit(tables.record("reports", answers=ask()))
