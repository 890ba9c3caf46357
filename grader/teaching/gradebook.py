"""The gradebook of a class: a table for spreadsheets, and a page to sort and to open."""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import quote

from grader.report.verdicts import Verdict
from grader.report.wording import MARKS, visible, visible_line

Json = dict[str, Any]

FAILURES = 20  # shown for the whole class


@dataclass(frozen=True)
class Row:
    """A learner's row. Without a report, the learner has not submitted anything."""

    name: str  # the learner's name
    submission: str = ""  # the folder's or archive's name
    folder: str = ""  # the folder with the results
    late: str = ""
    report: Json | None = None
    history: Sequence[Json] = field(default_factory=tuple)

    @property
    def score(self) -> int:
        return self.report["score"] if self.report and "failed" not in self.report else 0

    @property
    def tasks(self) -> dict[str, Json]:
        """The report's tasks by number."""
        if not self.report or "failed" in self.report:
            return {}
        return {task["id"]: task for milestone in self.report["milestones"] for task in milestone["tasks"]}

    @property
    def state(self) -> str:
        """Remarks for the instructor to read before the points."""
        if self.report is None:
            return "nothing handed in"
        if "failed" in self.report:
            return f"the grader failed: {self.report['failed']}"
        submission = self.report["submission"]
        notes = [submission["refused"]] if submission["refused"] else []
        notes += [f"{count} unconfirmed" for count in [_unconfirmed(self)] if count]
        notes += [f"{len(submission['outdated'])} files based on outdated stubs"] if submission.get("outdated") else []
        notes += [f"not enforced: {', '.join(held)}" for held in [submission["missing_protections"]] if held]
        return "; ".join(notes)


def to_csv(rows: Sequence[Row], tasks: Sequence[str]) -> str:
    """A table with one row for each learner: points, each task's points, and facts. No cell can act as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    facts = ("late", "state", "look_here", "handed_in", "graded", "course", "seed", "seconds", "sha256")
    writer.writerow(["name", "submission", "score", "max_score", *tasks, *facts])
    for row in rows:
        report = row.report if row.report and "failed" not in row.report else {}
        submission = report.get("submission", {})
        points = [row.tasks[id]["points"] if id in row.tasks else 0 for id in tasks]
        most = report.get("max_score", "")
        line = [row.name, row.submission, row.score, most, *points, row.late, row.state]
        line += [len(submission.get("look_here", ())), submission.get("handed_in", "")]
        line += [report.get(name, "") for name in ("date", "course", "seed", "seconds")]
        writer.writerow([_no_formula(cell) for cell in [*line, submission.get("sha256", "")]])
    return text.getvalue()


def _no_formula(cell: Any) -> Any:
    text = visible_line(str(cell))
    return f"'{text}" if isinstance(cell, str) and text.lstrip().startswith(("=", "+", "-", "@")) else text


def to_html(rows: Sequence[Row], tasks: Sequence[tuple[str, str]], title: str) -> str:
    """One self-contained page: learners by tasks, the class's difficulties, each learner."""
    return visible("\n".join(_page(rows, tasks, title)))


def _page(rows: Sequence[Row], tasks: Sequence[tuple[str, str]], title: str) -> Iterator[str]:
    graded = [row for row in rows if row.tasks]
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
    yield f"<h1>{escape(title)}</h1>"
    if graded:
        reports = [row.report for row in graded if row.report]
        middle = statistics.median(report["score"] for report in reports)
        courses = ", ".join(sorted({report["course"] for report in reports}))
        time = sum(report["seconds"] for report in reports)
        yield f"<p>{len(graded)} of {len(rows)} graded; median {middle:g} of {reports[0]['max_score']} points; "
        yield f"{time:.0f} s in all. Course {escape(courses)}.</p>"
    yield '<table id="book"><thead><tr>'
    for text in ("learner", "points", *(id for id, _ in tasks), "s", "late", "notes"):
        hint = dict(tasks).get(text, "")
        yield f'<th title="{escape(hint)}"><button>{escape(text)}</button></th>'
    yield "</tr></thead><tbody>"
    for row in rows:
        yield from _row(row, tasks)
    yield "</tbody><tfoot><tr><th>pass</th><td></td>"
    for id, _ in tasks:
        passed = sum(row.tasks[id]["points"] > 0 for row in graded if id in row.tasks)
        yield f"<td>{passed / len(graded):.0%}</td>" if graded else "<td></td>"
    yield "<td></td><td></td><td></td></tr></tfoot></table>"
    yield "<h2>What fails most</h2><table><tbody>"
    failures = Counter(name for row in graded for task in row.tasks.values() for name in _failed(task))
    for name, count in failures.most_common(FAILURES):
        yield f"<tr><td>{count}</td><td><code>{escape(name)}</code></td></tr>"
    yield "</tbody></table><h2>Learners</h2>"
    for row in rows:
        yield from _learner(row)
    yield f"<script>{_SCRIPT}</script></body></html>"


def _row(row: Row, tasks: Sequence[tuple[str, str]]) -> Iterator[str]:
    seconds = row.report["seconds"] if row.tasks and row.report else 0
    link = f'<a href="#{quote(row.folder)}">{escape(row.name)}</a>' if row.folder else escape(row.name)
    yield f"<tr><th>{link}</th><td>{row.score}</td>"
    for id, _ in tasks:
        task = row.tasks.get(id)
        verdict = Verdict(task["verdict"]) if task else None
        mark, word, _ = MARKS[verdict] if verdict else ("", "not graded", "")
        kind = str(verdict or "")
        if task and task.get("unconfirmed"):
            kind, word = "doubt", f"unconfirmed: {task['unconfirmed']}"
        value = task["points"] if task else -1
        yield f'<td class="{kind}" data-value="{value}" title="{escape(f"{id}: {word}")}">{mark}</td>'
    yield f"<td>{seconds:.0f}</td><td>{escape(row.late)}</td><td>{escape(row.state)}</td></tr>"


def _learner(row: Row) -> Iterator[str]:
    yield f'<details id="{escape(quote(row.folder))}"><summary>{escape(row.name)}: {row.score}</summary>'
    if row.report is None or "failed" in row.report:
        yield f"<p>{escape(row.state)}</p></details>"
        return
    report, submission = row.report, row.report["submission"]
    facts = [f"{row.submission}, {submission['files']} files, sha256 {submission['sha256'][:16]}", row.state, row.late]
    facts += [f"handed in {submission.get('handed_in', '')}, graded {report['date']}, seed {report['seed']}"]
    yield "".join(f"<p>{escape(fact)}</p>" for fact in facts if fact)
    yield f'<p><a href="{quote(row.folder)}/feedback.md">feedback to the learner</a></p>'
    if look := [*submission["look_here"], *(f"left out: {text}" for text in submission["left_out"])]:
        yield f"<p>Look here:</p><ul>{''.join(f'<li>{escape(text)}</li>' for text in look)}</ul>"
    if len(row.history) > 1:
        past = ", ".join(f"{entry['date'][:16]}: {entry['score']}" for entry in row.history)
        yield f"<p>History: {escape(past)}</p>"
    for task in row.tasks.values():
        for name in _failed(task)[:2]:
            message = next((test["message"] for test in task["tests"] if test["name"] == name), "")
            yield f"<p><b>{task['id']}</b> <code>{escape(name)}</code></p><pre>{escape(message[:800])}</pre>"
    yield "</details>"


def _failed(task: Json) -> list[str]:
    """The tests that a task fails; [] for a task that is not started."""
    known = (Verdict.PASS, Verdict.NOT_IMPLEMENTED, Verdict.UNAVAILABLE)
    return [test["name"] for test in task["tests"] if test["verdict"] not in known]


def _unconfirmed(row: Row) -> int:
    return sum(task["verdict"] == Verdict.PASS and bool(task.get("unconfirmed")) for task in row.tasks.values())


_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 1rem 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .5rem; border-bottom: 1px solid #8884; text-align: center; }
th:first-child, td:last-child { text-align: left; }
thead th { position: sticky; top: 0; background: Canvas; }
button { all: unset; cursor: pointer; font-weight: 600; }
.pass { background: #2da44e55; }
.fail, .error, .timeout, .memory { background: #cf222e55; }
.doubt { background: #d4a72c88; }
pre { white-space: pre-wrap; margin-left: 2rem; }
"""
_SCRIPT = """
document.querySelectorAll("#book thead button").forEach((button, column) => button.onclick = () => {
  const body = document.querySelector("#book tbody"), down = button.dataset.down = button.dataset.down ? "" : "1";
  const value = row => { const cell = row.cells[column], text = cell.dataset.value ?? cell.textContent;
    return text !== "" && !isNaN(text) ? Number(text) : text.toLowerCase(); };
  const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  body.append(...[...body.rows].sort((a, b) => (down ? 1 : -1) * compare(value(a), value(b))));
});
addEventListener("hashchange", () => document.getElementById(location.hash.slice(1))?.setAttribute("open", ""));
"""
