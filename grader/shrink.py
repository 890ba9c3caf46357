"""A report small enough to keep and send for every learner: what passed is counted, long texts are cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from grader.verdicts import Verdict

LIMIT = 50_000  # bytes

Json = dict[str, Any]


def shrink(report: Json, limit: int = LIMIT) -> Json:
    """The report as it is if its text is short enough; otherwise with less and less in it, and a note that says so."""
    for step in (lambda report: report, *_steps()):
        report = step(report)
        if len(to_text(report).encode()) <= limit:
            break
    return report


def to_text(report: Json) -> str:
    """A report as it is written to a file."""
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def _steps() -> Iterator[Callable[[Json], Json]]:
    yield lambda report: report | {
        "shortened": "--verbose writes everything",
        "modules": [module for module in report["modules"] if module["origin"] == "learner"],
    }
    yield lambda report: _each_task(report, lambda task: task | {"tests": _worth_telling(task, 1000)})
    for tests in (3, 1, 0):
        for length in (1000, 300):
            yield lambda report, tests=tests, length=length: _each_task(
                report | {"modules": []}, lambda task: task | {"tests": [_cut(t, length) for t in task["tests"][:tests]]}
            )
    yield lambda report: _each_task(report, lambda task: task | {"unconfirmed": task.get("unconfirmed", "")[:80]})


def _worth_telling(task: Json, length: int) -> list[Json]:
    """The tests that did not pass, those to which the task owes its verdict first."""
    lost = [test for test in task["tests"] if test["verdict"] != Verdict.PASS]
    return [_cut(test, length) for test in sorted(lost, key=lambda test: test["verdict"] != task["verdict"])]


def _each_task(report: Json, change: Callable[[Json], Json]) -> Json:
    milestones = [
        milestone | {"tasks": [change({"number_of_tests": len(task["tests"])} | task) for task in milestone["tasks"]]}
        for milestone in report["milestones"]
    ]
    return report | {"milestones": milestones}


def _cut(test: Json, length: int) -> Json:
    return {name: value if not isinstance(value, str) else _clip(value, length) for name, value in test.items()}


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
