"""Grade a whole class: every submission in a folder. If the work is interrupted, finished submissions stay graded.

Each submission has a folder of results with its report. A submission whose report is of the same work, course and
question is not graded again. Gradebook and feedback are made from the reports alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import site
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from grader.course.curriculum import ROOT, Curriculum, load
from grader.parent import submissions
from grader.parent.intake import Nothing, take_in
from grader.parent.seal import Seal
from grader.parent.workfolder import workfolder
from grader.report import shrink
from grader.report.pace import Pace
from grader.report.verdicts import SCHEMA
from grader.report.wording import visible_line
from grader.teaching.roster import Handed

REPORT, HISTORY = "report.json", "history.jsonl"

Json = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """How every submission is graded."""

    targets: tuple[str, ...]
    fill: str = "reference"
    device: str = "cpu"
    examples: int = 100
    seed: int | None = None  # None: a new seed for each submission
    verbose: bool = False
    points: Mapping[str, int] = field(default_factory=dict)


def grade_class(
    handed: Sequence[Handed],
    results: Path,
    question: Question,
    curriculum: Curriculum,
    *,
    jobs: int,
    dask: str = "",
    say: Callable[[str], object] = print,
) -> dict[str, Json]:
    """Grade the submissions that are not graded yet; return the reports by the learners' folders.

    If the grader itself fails on a submission, its report contains only `failed`, and the next run grades it again.
    """
    _stop.clear()
    seal = Seal(curriculum, bytecode=False)
    course = submissions.course_version(curriculum, seal)
    reports = {one.folder: report for one in handed if (report := _known(one, results, question, course, curriculum))}
    if reports:
        say(f"{len(reports)} of {len(handed)} are graded already.")
    todo = [one for one in handed if one.folder not in reports]
    with _shown(len(todo)) as finish, _workers(jobs, dask) as workers:
        running = {workers.submit(_grade, one, question, str(curriculum.root)): one for one in todo}
        try:
            for future in as_completed(running):
                one = running[future]
                reports[one.folder] = _keep(future, one, results, question)
                finish(one.name, reports[one.folder])
        except BaseException:
            _stop.set()
            for future in running:
                future.cancel()
            raise
    if changed := seal.changed():
        raise CourseChanged(f"The course changed during grading: {', '.join(changed[:5])}. Grade again.")
    return reports


class CourseChanged(Exception):
    """The course has changed, so the reports of one class come from different versions."""


_stop = threading.Event()


def _grade(one: Handed, question: Question, root: str) -> Json:
    """Grade one submission, perhaps on another machine that sees the same files."""

    curriculum = load(Path(root)).with_points(question.points)
    seed = secrets.randbelow(1 << 32) if question.seed is None else question.seed
    how: Json = {name: getattr(question, name) for name in ("fill", "device", "examples")}
    report = submissions.grade(question.targets, one.path, curriculum, seed=seed, jobs=1, cancelled=_stop, **how)
    return report.to_json()


def _known(one: Handed, results: Path, question: Question, course: str, curriculum: Curriculum) -> Json | None:
    """The report of an earlier run, if it has the same submission, course and questions."""
    try:
        report = json.loads((results / one.folder / REPORT).read_text(encoding="utf-8"))
        same = (SCHEMA, list(question.targets), question.fill, course, _asked(question))
        if (report["schema"], report["target"], report["fill"], report["course"], report["asked"]) != same:
            return None
        with workfolder("kata-look-") as folder:
            sha256 = take_in(one.path, folder, curriculum).sha256
        return report if sha256 == report["submission"]["sha256"] else None
    except (OSError, ValueError, KeyError, TypeError, Nothing):
        return None


def _asked(question: Question) -> Json:
    """Facts that the report does not contain."""
    return {
        "examples": question.examples,
        "seed": question.seed,
        "verbose": question.verbose,
        "points": dict(question.points),
    }


def _keep(future: Future[Json], one: Handed, results: Path, question: Question) -> Json:
    """Write the report of one submission, and a line of its history."""
    try:
        report = future.result()
    except Exception as error:  # the grader's failure with one submission must not stop the other gradings
        return {"failed": f"{type(error).__name__}: {visible_line(str(error))[:300]}"}
    report["submission"]["handed_in"] = one.when.isoformat(timespec="seconds")
    report["asked"] = _asked(question)
    report = report if question.verbose else shrink.shrink(report)
    folder = results / one.folder
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{REPORT}.{os.getpid()}"
    unfinished.write_text(shrink.to_text(report), encoding="utf-8", errors="backslashreplace")
    unfinished.replace(folder / REPORT)
    entry = {name: report[name] for name in ("date", "course", "score", "max_score")}
    with (folder / HISTORY).open("a", encoding="utf-8") as history:
        history.write(json.dumps(entry | {"sha256": report["submission"]["sha256"]}) + "\n")
    return report


def history(results: Path, one: Handed) -> list[Json]:
    """Every grading of a learner's work so far, the oldest first."""
    file = results / one.folder / HISTORY
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    entries = []
    for line in lines:
        with contextlib.suppress(ValueError):  # the machine was switched off while the line was written
            entries.append(json.loads(line))
    return entries


@contextlib.contextmanager
def _workers(jobs: int, dask: str) -> Iterator[Executor]:
    """The executor of the gradings: threads here, each with a process of its own, or the workers of a Dask cluster."""
    if not dask:
        pool = ThreadPoolExecutor(jobs)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
        return
    from distributed import Client

    with Client(dask, timeout="30s") as client, client.get_executor(pure=False, retries=1) as executor:
        # Dask sends `_grade` by name, and neither `dask scheduler` nor `dask worker` could import this name.
        find_grader = partial(site.addsitedir, str(ROOT))
        client.run_on_scheduler(find_grader)
        client.register_worker_callbacks(find_grader)
        yield executor


@contextlib.contextmanager
def _shown(total: int) -> Iterator[Callable[[str, Json], None]]:
    """A bar with the time left on a terminal; elsewhere a line for each submission."""
    started = time.monotonic()
    if sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            with Progress(*columns, transient=True) as progress:
                bar = progress.add_task("submissions", total=total)

                def advance(name: str, report: Json) -> None:
                    progress.console.print(_told(name, report), markup=False, highlight=False)
                    progress.advance(bar)

                yield advance
            return
    with Pace("submissions", total) as pace:

        def tell(name: str, report: Json) -> None:
            pace.finish(name)
            print(_told(name, report), f"({time.monotonic() - started:.0f} s)", flush=True)

        yield tell


def _told(name: str, report: Json) -> str:
    if "failed" in report:
        return f"! {name}: the grader failed: {report['failed']}"
    refused = report["submission"]["refused"]
    outcome = f"{report['score']} of {report['max_score']}, {report['seconds']:.1f} s"
    return f"{'✗' if refused else '·'} {name}: {refused or outcome}"
