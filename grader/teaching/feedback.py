"""A learner's feedback from the report, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grader.report.screen import UPDATE
from grader.report.shrink import lost_tests
from grader.report.verdicts import Verdict
from grader.report.wording import MARKS, visible

Json = dict[str, Any]

_TESTS = 2  # shown in full for each task
_LENGTH = 3000  # characters of one message


def to_markdown(report: Json, name: str, notes: str = "") -> str:
    """A page with `notes`, the points, each milestone's tasks, and the place to look at for each failed task."""
    return visible("\n".join(_page(report, name, notes))) + "\n"


def explain(task: Json) -> str:
    """The reason why a task has no points, as plain text; empty if the task has its points."""
    lines = [task["unconfirmed"]] if task.get("unconfirmed") else []
    if task["verdict"] == Verdict.NOT_IMPLEMENTED:
        return "\n".join([*lines, "Not started."])
    for test in lost_tests(task)[:_TESTS]:
        lines += [test["name"], *(test[name] for name in ("counterexample", "message", "location") if test.get(name))]
    return "\n".join(lines)


def _page(report: Json, name: str, notes: str) -> Iterator[str]:
    yield f"# {_escape(name)}: {report['score']} of {report['max_score']} points"
    yield ""
    yield f"Graded {report['date']} with course {report['course']}, seed {report['seed']}."
    submission = report.get("submission") or {}
    if notes:
        yield f"\n{_escape(notes)}"
    if submission.get("refused"):
        yield f"\n**Nothing could be graded.** {_escape(submission['refused'])}"
        return
    if submission.get("outdated"):
        files = ", ".join(f"`{file}`" for file in submission["outdated"])
        yield f"\nWritten for a different version of the course: {files}. To update: `{UPDATE}`"
    for milestone in report["milestones"]:
        number, points = milestone["id"].removeprefix("milestone"), f"{milestone['score']} of {milestone['max_score']}"
        yield f"\n## {number} {milestone['key']}: {points}\n"
        yield "| | task | points | |"
        yield "|---|---|--:|---|"
        for task in milestone["tasks"]:
            mark, word, _ = MARKS[Verdict(task["verdict"])]
            state = "passed, unconfirmed" if task.get("unconfirmed") else word
            points = f"{task['points']} of {task['max_points']}"
            yield f"| {mark} | {task['id']} {_escape(task['title'])} | {points} | {state} |"
        for task in milestone["tasks"]:
            yield from _opened(task)


def _opened(task: Json) -> Iterator[str]:
    if task["verdict"] == Verdict.NOT_IMPLEMENTED or task["verdict"] == Verdict.PASS and not task.get("unconfirmed"):
        return
    yield f"\n### {task['id']} {_escape(task['title'])}"
    text = explain(task)
    text = text if len(text) <= _LENGTH else f"{text[:_LENGTH]}…"
    fence = "`" * (max(2, *map(len, re.findall("`+", text)), 0) + 1)
    yield f"\n{fence}text\n{text}\n{fence}"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text.replace("\n", " "))
