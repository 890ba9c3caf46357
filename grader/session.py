"""One child process, seen from the grader: its answers, and how it ended."""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.curriculum import ROOT
from grader.job import Job
from grader.overlay import Plan

PATIENCE = 5.0  # seconds beyond a step's own limit, in which the child should have ended by itself
STARTUP = 120.0  # it loads libraries meanwhile, perhaps on a busy machine

Answer = dict[str, Any]


class Session:
    """Runs a job in a child process of its own group. Iterate over it for the answers; then see how it ended."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.killed = False  # it had to be
        self.trace = ""  # the stacks it left behind
        self.errors = ""  # what it wrote before any graded code ran
        self._process: subprocess.Popen[bytes] | None = None

    def __iter__(self) -> Iterator[Answer]:
        with tempfile.TemporaryDirectory(prefix="kata-") as folder:
            trace, errors = Path(folder, "trace"), Path(folder, "errors")
            trace.touch()
            job = replace(self.job, trace=str(trace), token=secrets.token_hex(8))
            with errors.open("wb") as stderr:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "grader.child"],
                    cwd=ROOT,
                    env=_environment(job.seed),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,
                )
            try:
                yield from self._answers(self._process, job)
            finally:
                self.kill()
                self._process.wait()
            self.trace = trace.read_text(encoding="utf-8", errors="replace")
            self.errors = errors.read_text(encoding="utf-8", errors="replace")

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
        code = self._process.returncode if self._process else 0
        if self.killed:
            return "did not answer and was ended"
        if code >= 0:
            return f"ended with exit code {code}"
        with suppress(ValueError):
            return f"crashed with {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"

    def location(self, plan: Plan) -> str:
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
        return not self.killed and self._process is not None and self._process.returncode == -9

    def _answers(self, process: subprocess.Popen[bytes], job: Job) -> Iterator[Answer]:
        assert process.stdin and process.stdout
        with suppress(BrokenPipeError):
            process.stdin.write(job.to_json().encode())
            process.stdin.close()
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        # A thread, since not every system can wait for a pipe with a time limit.
        threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
        patience = STARTUP
        while True:
            try:
                line = lines.get(timeout=patience)
            except queue.Empty:
                self.killed = True
                return
            if not line:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
                self.killed = process.returncode is None
                return
            answer = _parse(line, job.token)
            if answer:
                yield answer
                if answer["event"] == "finished":
                    return
                patience = self._patience(answer)

    def _patience(self, answer: Answer) -> float:
        """How long the next answer may take."""
        if answer["event"] == "running":
            return 3 * max(self.job.limits.values()) + PATIENCE  # setup, call and teardown
        return max(self.job.import_limit + PATIENCE, STARTUP if answer["event"] in ("imported", "unimportable") else 0)


def _read(pipe: Any, lines: queue.SimpleQueue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    lines.put(b"")


def _parse(line: bytes, token: str) -> Answer | None:
    """An answer; None for anything that the child's own code did not write."""
    with suppress(ValueError):
        answer = json.loads(line)
        if isinstance(answer, dict) and answer.pop("token", None) == token:
            return answer
    return None


def _environment(seed: int) -> dict[str, str]:
    """The user's environment without what would change how Python, pytest or hypothesis behave."""
    keep = {"PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "PYTHONPYCACHEPREFIX"}
    prefixes = ("PYTHON", "PYTEST", "HYPOTHESIS")
    kept = {name: value for name, value in os.environ.items() if name in keep or not name.startswith(prefixes)}
    return kept | {"PYTHONHASHSEED": str(seed % 2**32), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
