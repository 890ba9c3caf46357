"""Real Triton's recorded `perf_report`: its calls to a function, and the file that it writes.

    reports.load()[0]   # a seed of `benchmarks.draw`, the calls, the lines of the CSV file

With pandas and matplotlib installed, record the answers again by

    python -m tests.oracles.reports [--check]
"""

import functools
import json
import sys
from typing import Any, NamedTuple

from tests import oracles
from tests.oracles import records, triton

FILE = records.FOLDER / "reports.json"
CASES = 24


class Answer(NamedTuple):
    """The result of a case."""

    seed: int
    calls: list[dict[str, Any]]
    lines: list[str]


@functools.cache
def load() -> list[Answer]:
    """All answers."""
    recorded = json.loads(FILE.read_text(encoding="utf-8"))
    oracles.note("triton", f"records {recorded['version']}")
    return [Answer(*row) for row in recorded["answers"]]


def ask() -> list[Answer]:
    """The behavior of the installed Triton."""
    requests = [{"do": "tuning.report", "seed": seed} for seed in range(CASES)]
    answers = triton.insist_on("frontend", requests)
    return [Answer(seed, answer["calls"], answer["lines"]) for seed, answer in enumerate(answers)]


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if ask() == load() else "the answers differ from the recorded ones")
    rows = ",\n".join(f"  {json.dumps(answer)}" for answer in ask())
    FILE.write_text(f'{{\n "version": "{triton.version()}",\n "answers": [\n{rows}\n ]\n}}\n', encoding="utf-8")
