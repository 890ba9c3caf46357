"""A report small enough to keep and send for every learner: passed tests are counted, long texts are cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from grader.report.verdicts import Verdict

LIMIT = 50_000  # bytes

Json = dict[str, Any]


def shrink(report: Json, limit: int = LIMIT) -> Json:
    """The report, unchanged if its text is short enough; otherwise without some parts, and with a note about them."""
    for step in (lambda report: report, *_steps()):
        report = step(report)
        if len(to_text(report).encode()) <= limit:
            break
    return report


def to_text(report: Json) -> str:
    """A report as text for a file."""
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def _steps() -> Iterator[Callable[[Json], Json]]:
    """The parts to drop, in order: given modules, passed tests, then tests and texts beyond a number."""
    yield _without_given_modules
    yield partial(_with_tests, most=1000, length=1000)
    for most in (3, 1, 0):
        yield partial(_with_tests, most=most, length=1000)
        yield partial(_with_tests, most=most, length=300)


def _without_given_modules(report: Json) -> Json:
    modules = [module for module in report["modules"] if module["origin"] == "learner"]
    return report | {"modules": modules, "shortened": "--verbose writes everything"}


def _with_tests(report: Json, most: int, length: int) -> Json:
    """The report with some of the tests that did not pass, and with texts of limited length."""
    milestones = []
    for milestone in report["milestones"]:
        tasks = []
        for task in milestone["tasks"]:
            tests = [_cut(test, length) for test in lost_tests(task)[:most]]
            tasks.append({"number_of_tests": len(task["tests"])} | _cut(task, length) | {"tests": tests})
        milestones.append(milestone | {"tasks": tasks})
    return report | {"milestones": milestones}


def lost_tests(task: Json) -> list[Json]:
    """The tests that did not pass, those to which the task owes its verdict first."""
    lost = [test for test in task["tests"] if test["verdict"] != Verdict.PASS]
    return sorted(lost, key=lambda test: test["verdict"] != task["verdict"])


def _cut(fields: Json, length: int) -> Json:
    """Fields whose texts are not longer than this."""
    long = {name: value for name, value in fields.items() if isinstance(value, str) and len(value) > length}
    return fields | {name: f"{value[: length - 1]}…" for name, value in long.items()}
