"""One child process: its answers, and how it ended."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from grader.child import boundary
from grader.child.job import Job
from grader.child.overlay import ModulePlan
from grader.course.curriculum import ROOT
from grader.parent import answers, forks
from grader.parent.answers import Answer
from grader.parent.forks import Fork
from grader.parent.lines import Lines, send
from grader.parent.oracles import Oracles
from grader.parent.workfolder import is_too_large, workfolder

PATIENCE = 5.0  # seconds beyond a step's own limit, in which the child should have ended by itself
STARTUP = 120.0  # seconds to load libraries, perhaps on a busy machine
PART = 64 << 10  # bytes of a file that are read
_WITHOUT_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HYPOTHESIS_NO_PLUGINS": "1"}  # of other packages
_LOOK = 0.5  # seconds between checks of how much the process has written


class Session:
    """Runs a job in a child process of its own group. Iterate over it for the answers; then see how it ended."""

    def __init__(
        self,
        job: Job,
        is_sound: Callable[[Answer], bool],
        deadline: float | None = None,
        cancelled: threading.Event | None = None,
    ) -> None:
        self.job = job
        self.is_sound = is_sound  # tells whether an answer is plausible
        self.deadline = deadline  # when it must have ended, on the monotonic clock
        self.cancelled = cancelled or threading.Event()  # set by another thread to end it
        self.killed = False  # whether it had to be killed
        self.breach = ""  # how it violated the protocol
        self.protections: list[str] = []  # the protections that hold for a confined process
        self.trace = ""  # the file for its stacks
        self.errors = ""  # its output before any graded code ran
        self._process: subprocess.Popen[bytes] | Fork | None = None
        self._oracles: Oracles | None = None  # the judges that a confined process may ask

    def __iter__(self) -> Iterator[Answer]:
        with workfolder() as folder:
            trace, errors, work = folder / "trace", folder / "errors", folder / "work"
            trace.touch()
            work.mkdir()
            command = [sys.executable, "-m", "grader.child"]
            environment = environment_of(self.job.seed)
            job = replace(self.job, trace=str(trace), token=secrets.token_hex(8))
            if job.bounds is not None:
                command = boundary.command(command)
                environment = boundary.environment(work) | _only_ours(environment)
                bounds = job.bounds | {"write": [str(work)]}
                job = replace(job, bounds=bounds)
                if sys.platform == "linux":
                    self._oracles = Oracles(bounds, work, job.milestone)
                    environment["KATA_ORACLES"] = str(self._oracles.theirs.fileno())
            with errors.open("wb") as stderr:
                if forks.CAN_FORK and job.bounds is None and job.device == "cpu":
                    self._process = forks.fork("grader.child", environment, job.libraries, stderr)
                if self._process is None:
                    self._process = subprocess.Popen(
                        command,
                        cwd=ROOT,
                        env=environment,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=stderr,
                        start_new_session=True,
                        pass_fds=[self._oracles.theirs.fileno()] if self._oracles else [],
                    )
            try:
                yield from self._answers(self._process, job, work)
            finally:
                self.kill()
                self._process.wait()
                if self._oracles:
                    self._oracles.close()
            self.trace = read_part(trace)  # the innermost functions come first
            self.errors = read_part(errors, at_end=True)

    def kill(self) -> None:
        """End the process and everything that it started."""
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def describe_end(self) -> str:
        """How the process ended, for a sentence that begins with "The process"."""
        code = self._exit_status
        if self.breach:
            return self.breach
        if self.killed:
            return "did not answer and was ended"
        if code >= 0:
            return f"ended with exit code {code}"
        with suppress(ValueError):
            return f"crashed with {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"

    def location(self, plan: ModulePlan) -> str:
        """The innermost line of graded code in the stacks that it left behind; or nothing."""
        for file, line in re.findall(r'^  File "(.+)", line (\d+)', self.trace, re.MULTILINE):
            if plan.is_graded(file):
                return f"{plan.display(file)}:{line}"
        return ""

    @property
    def out_of_time(self) -> bool:
        """Whether it ended because a step ran for too long."""
        return self.killed or bool(re.match(r"Timeout \(", self.trace))

    @property
    def out_of_memory(self) -> bool:
        """Whether the system ended it, which it does to a process that takes too much memory."""
        return not self.killed and not self.breach and self._exit_status == -9

    @property
    def _exit_status(self) -> int:
        code = self._process.returncode if self._process else 0
        return (boundary.exit_status(code) if self.job.bounds is not None else code) or 0

    def _answers(self, process: subprocess.Popen[bytes] | Fork, job: Job, work: Path) -> Iterator[Answer]:
        assert process.stdin and process.stdout
        send(process.stdin, job.to_json().encode(), STARTUP)
        with suppress(BrokenPipeError):
            process.stdin.close()
        lines = Lines(process.stdout, answers.LINE, job.token.encode())
        patience, heard, size = STARTUP, False, 0
        while True:
            line = self._next(lines, time.monotonic() + patience, work)
            if line is None:
                return
            if not line:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
                self.killed = process.returncode is None
                return
            size += len(line)
            answer = answers.parse(line, job.token)
            if answer is None or not self.is_sound(answer) or size > answers.ALL:
                self.breach = "sent answers that the grader's own code does not send, and was ended"
                return
            if answer["event"] == "bound":  # the only answer that certainly precedes learner code
                self.protections = self.protections if heard else [str(name) for name in answer["protections"]]
            heard = True
            yield answer
            if answer["event"] == "finished":
                return
            patience = self._patience(answer)

    def _next(self, lines: Lines, until: float, work: Path) -> bytes | None:
        """The next line; None if it does not come in time, or if the process must be ended for another reason."""
        until = until if self.deadline is None else min(until, self.deadline)
        while (left := until - time.monotonic()) > 0 and not self.cancelled.is_set():
            if (line := lines.next(min(left, _LOOK))) is not None:
                return line
            if self.job.bounds is not None and is_too_large(work):
                self.breach = "wrote more files than any task needs, and was ended"
                return None
        self.killed = True
        return None

    def _patience(self, answer: Answer) -> float:
        """How long the next answer may take."""
        if answer["event"] == "running":
            return 3 * max(self.job.limits.values()) + PATIENCE  # setup, call and teardown
        starts = answer["event"] in ("bound", "imported", "unimportable")
        return max(self.job.import_limit + PATIENCE, STARTUP if starts else 0)


def read_part(file: Path, at_end: bool = False) -> str:
    """The first or the last characters of a file that code under test may have filled."""
    with file.open("rb") as opened:
        if at_end:
            opened.seek(max(0, file.stat().st_size - PART))
        return opened.read(PART).decode("utf-8", "replace")


def _only_ours(environment: dict[str, str]) -> dict[str, str]:
    """The variables that steer Python, pytest and hypothesis, without the user's."""
    names = ("PYTHONHASHSEED", *_WITHOUT_PLUGINS)
    return {name: environment[name] for name in names} | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"}


def environment_of(seed: int) -> dict[str, str]:
    """The user's environment without variables that change Python, pytest or hypothesis."""
    keep = {"PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "PYTHONPYCACHEPREFIX"}
    prefixes = ("PYTHON", "PYTEST", "HYPOTHESIS")
    kept = {name: value for name, value in os.environ.items() if name in keep or not name.startswith(prefixes)}
    return kept | {"PYTHONHASHSEED": str(seed % 2**32), **_WITHOUT_PLUGINS}
