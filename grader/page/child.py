"""A process of the page: the code that runs a job in a child process of the command line runs here in a worker."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from grader import cli
from grader.child import __main__ as process
from grader.child.job import LIBRARIES, Answers, Job
from grader.child.limits import OutOfTime, TimeLimit
from grader.page import absent, stages

Say = Callable[[str], None]
_SHOWING = 3.0  # seconds for the stages of the learner's compiler


class _Said(Answers):
    """Answers that go to the page, one line each."""

    def __init__(self, say: Say) -> None:
        super().__init__(-1, "")
        self._say = say

    def send(self, event: str, **values: Any) -> None:
        self._say(json.dumps({"token": "", "event": event} | values) + "\n")


def prepare() -> None:
    """Load the libraries that every job needs."""
    absent.supply_floats()
    process._load_libraries(LIBRARIES)


def run(wanted: Mapping[str, Any], say: Say, within: Callable[[float], None]) -> int:
    """Run a process that `parent.run` wants. `say` gets the lines that it writes. Returns its exit code."""
    if wanted["kind"] == "job":
        job = Job(**wanted["job"])
        absent.install(within, job.learner_root)
        process.main(job, _Said(say))
        return 0
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = cli.main(wanted["arguments"])
    say(output.getvalue())
    return code


def shown() -> str:
    """The stages of the learner's compiler in JSON, in a process that has run a job; "" if they take too long."""
    with open(os.devnull, "w") as trace, contextlib.suppress(OutOfTime), TimeLimit(trace)(_SHOWING):
        return stages.answer()
    return ""
