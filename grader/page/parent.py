"""The command line in a page, which cannot wait for a process: it runs again for each process that it has asked for.

`run` grades until it needs the answers of a child process, and then returns the job of this process. The page runs the
job, and calls `run` again with the recorded answers. Everything before the missing process is repeated, which takes a
few milliseconds; only the last run, which has all answers, changes the learner's progress.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from grader import cli
from grader.course.curriculum import ROOT, load
from grader.learner import finale
from grader.parent import answers, grading
from grader.parent.answers import Answer
from grader.parent.session import Session
from grader.report.progress import Progress

Record = dict[str, Any]
"""What a process has left: its answers as `lines`, its exit code, and whether the page had to end it."""


class Wanted(BaseException):
    """A process whose record is missing. No code on the way to `run` catches it."""

    def __init__(self, process: Record) -> None:
        super().__init__()
        self.process = process


def run(arguments: Sequence[str], records: Sequence[Record], root: Path = ROOT) -> dict[str, Any]:
    """Run a command. Returns the process that it needs next, or its exit code and what it prints."""
    left = list(records)

    def recorded(process: Record) -> Record:
        """The record of the next process."""
        if not left:
            raise Wanted(process)
        return left.pop(0)

    class Recorded(Session):
        """A session whose process has run already."""

        def __iter__(self) -> Iterator[Answer]:
            record = recorded({"kind": "job", "job": asdict(self.job)})
            for line in record["lines"]:
                answer = answers.parse(line.encode(), self.job.token)
                if answer is None or not self.is_sound(answer):
                    self.breach = "sent answers that the grader's own code does not send, and was ended"
                    return
                yield answer
            self.killed = record["killed"]
            self._process = SimpleNamespace(pid=0, returncode=record["code"])  # type: ignore[assignment]

    def finished(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        """The process that shows the finale; its command line ends with the grader's own arguments."""
        record = recorded({"kind": "command", "arguments": command[4:]})
        if record["killed"]:
            raise subprocess.TimeoutExpired(command, finale.SECONDS)
        return subprocess.CompletedProcess(command, record["code"], "".join(record["lines"]), "")

    output = io.StringIO()
    stand_in = SimpleNamespace(run=finished, TimeoutExpired=subprocess.TimeoutExpired)
    with (
        _replaced(grading, "Session", Recorded),
        _replaced(finale, "subprocess", stand_in),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        try:
            code = cli.main(arguments, root)
        except Wanted as wanted:
            return {"process": wanted.process}
        except SystemExit as end:  # argparse
            code = end.code if isinstance(end.code, int) else cli.USAGE
    return {"code": code, "output": output.getvalue(), "tasks": states(root)}


@contextmanager
def _replaced(module: ModuleType, name: str, value: Any) -> Iterator[None]:
    """Replace a name of a module for a while."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def states(root: Path = ROOT) -> dict[str, Any]:
    """The tasks of the course, and what the learner has reached in each."""
    curriculum = load(root)
    known = Progress(curriculum.scratch / "progress.db").tasks()
    tasks = {}
    for task in curriculum.tasks:
        past = known.get(task.id)
        tasks[task.id] = {
            "title": task.title,
            "minutes": task.minutes,
            "points": task.points,
            "last": past.last if past else "",
            "state": past.state if past else "",
        }
    return tasks


def answer(question: str) -> str:
    """`run`, for the page: texts in JSON."""
    return json.dumps(run(**json.loads(question)))
