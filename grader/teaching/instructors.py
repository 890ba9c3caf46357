"""The instructors' commands: `export` writes the course for learners, and `class` grades their submissions."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.course.curriculum import Curriculum, UnknownTarget
from grader.course.problems import UsageError

OK, FAILED = 0, 3


def add_commands(commands: Any) -> None:
    """Declare the commands' options."""
    export = commands.add_parser("export", description="Write a repository for learners: the course without solutions.")
    export.set_defaults(run=_export)
    export.add_argument("folder", type=Path, metavar="DIR", help="a new folder, or an earlier export")
    _add_shared(export)
    grade = commands.add_parser("class", description="Grade every submission in a folder; run it again to continue.")
    grade.set_defaults(run=_class)
    grade.add_argument("folder", type=Path, metavar="DIR", help="folders and archives, one for each learner")
    _add_shared(grade)
    grade.add_argument("--out", type=Path, metavar="DIR", help="folder for the results (DIR-results)")
    grade.add_argument("--csv", action="store_true", help="write gradebook.csv")
    grade.add_argument("--html", action="store_true", help="write gradebook.html")
    grade.add_argument("--gradescope", action="store_true", help="write each learner's results.json")
    grade.add_argument("--classroom50", action="store_true", help="write each learner's result.json")
    grade.add_argument("--junit", action="store_true", help="write each learner's report.xml")
    grade.add_argument("--roster", type=Path, metavar="FILE", help="a CSV file of all learners, with a header")
    late = 'such as "2026-11-22 18:00": later submissions are marked as late'
    grade.add_argument("--deadline", metavar="TIME", help=late)
    grade.add_argument("--jobs", type=int, metavar="N", help="submissions at a time (one per processor)")
    grade.add_argument("--dask", default="", metavar="ADDRESS", help="of a Dask scheduler whose workers grade")
    grade.add_argument("--seed", type=int, help="seed of the random cases (for each submission, a new one)")
    grade.add_argument("--examples", type=int, default=100, metavar="N", help="random cases per test (100)")
    grade.add_argument("--fill", choices=("learner", "reference"), default="reference", help="as for grade")
    grade.add_argument("--verbose", action="store_true", help="keep complete reports of any size")


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--milestones", metavar="LIST", help="such as 1-5 or 0,1,4 (default: all)")
    parser.add_argument("--points", type=Path, metavar="FILE", help='TOML with other points for tasks: "1.4" = 3')


def _export(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.teaching import export

    course = curriculum.with_points(_points(options.points, curriculum))
    try:
        done = export.export(course, options.folder, _milestones(options.milestones, curriculum))
    except export.NotAnExport as error:
        raise UsageError(error) from None
    print(done)
    return OK


def _class(curriculum: Curriculum, options: argparse.Namespace) -> int:
    from grader.report.wording import visible_line
    from grader.teaching import classroom, gradebook, roster

    if not options.folder.is_dir():
        raise UsageError(f"There is no folder {options.folder}.")
    if options.dask and not importlib.util.find_spec("distributed"):
        raise UsageError("--dask needs the package distributed: pip install distributed")
    results = (options.out or options.folder.with_name(f"{options.folder.resolve().name}-results")).resolve()
    points = _points(options.points, curriculum)
    course = curriculum.with_points(points)
    numbers = _milestones(options.milestones, curriculum)
    try:
        learners = roster.read(options.roster) if options.roster else []
        deadline = roster.moment(options.deadline) if options.deadline else None
    except (roster.BadRoster, ValueError) as error:
        raise UsageError(error) from None
    handed = roster.find(options.folder, [results, *([options.roster] if options.roster else [])])
    question = classroom.Question(
        tuple(f"milestone{number}" for number in numbers) if options.milestones else ("all",),
        *(options.fill, "cpu", options.examples, options.seed, options.verbose, points),
    )
    jobs = options.jobs or os.cpu_count() or 1
    reports = classroom.grade_class(handed, results, question, curriculum, jobs=jobs, dask=options.dask)
    known = roster.match(learners, handed)
    rows = [
        gradebook.Row(
            known[one.folder].label if one.folder in known else one.name,
            visible_line(one.path.name),
            one.folder,
            roster.lateness(one.when, deadline),
            reports[one.folder],
            classroom.history(results, one),
        )
        for one in handed
    ]
    missing = [learner for learner in learners if learner not in known.values()]
    rows += [gradebook.Row(learner.label) for learner in missing]
    _write(results, rows, [task for number in numbers for task in course.milestone(number).tasks], options)
    failed = [name for name, report in reports.items() if "failed" in report]
    print(f"{len(reports) - len(failed)} of {len(handed)} submissions graded; results in {results}")
    return FAILED if failed else OK


def _write(results: Path, rows: Sequence[Any], tasks: Sequence[Any], options: argparse.Namespace) -> None:
    """Write the files made from the reports."""
    from grader.report import junit
    from grader.report.verdicts import Report
    from grader.teaching import feedback, gradebook, platforms

    results.mkdir(parents=True, exist_ok=True)
    if options.csv:
        _put(results / "gradebook.csv", gradebook.to_csv(rows, [task.id for task in tasks]))
    if options.html:
        title = f"Gradebook of {options.folder.resolve().name}"
        _put(results / "gradebook.html", gradebook.to_html(rows, [(task.id, task.title) for task in tasks], title))
    for row in rows:
        if row.report is None or "failed" in row.report:
            continue
        folder = results / row.folder
        _put(folder / "feedback.md", feedback.to_markdown(row.report, row.name, row.late))
        if options.gradescope:
            _put(folder / "results.json", json.dumps(platforms.to_gradescope(row.report), indent=1))
        if options.classroom50:
            _put(folder / "result.json", json.dumps(platforms.to_classroom50(row.report, folder.name), indent=1))
        if options.junit:
            _put(folder / "report.xml", junit.to_junit(Report.from_json(row.report)))


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _milestones(text: str | None, curriculum: Curriculum) -> list[int]:
    """The numbers in a list such as `1-5` or `0,2,4`; without a list, all numbers."""
    known = [milestone.number for milestone in curriculum.milestones]
    if not text:
        return known
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = (word.strip().removeprefix("m") for word in part.partition("-"))
        if not first.isdecimal() or not (last or first).isdecimal() or int(last or first) < int(first):
            raise UsageError(f"--milestones takes numbers such as 1-5 or 0,1,4, not {text!r}.")
        chosen |= set(range(int(first), int(last or first) + 1)) if dash else {int(first)}
    if unknown := chosen - set(known):
        raise UsageError(f"There is no milestone {min(unknown)}: the milestones go from {known[0]} to {known[-1]}.")
    return sorted(chosen)


def _points(path: Path | None, curriculum: Curriculum) -> Mapping[str, int]:
    """The points that a file gives for some tasks."""
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    for id, points in table.items():
        try:
            curriculum.task(id)
        except UnknownTarget:
            raise UsageError(f"{path}: there is no task {id}.") from None
        if type(points) is not int or points < 0:
            raise UsageError(f"{path}: task {id} needs a whole number of points.")
    return table
