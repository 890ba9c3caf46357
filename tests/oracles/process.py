"""The client of the server: it starts the server when it is needed, restarts it after a crash, and limits its time."""

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.oracles import brokered

ROOT = Path(__file__).parents[2]


class Silent(Exception):
    """The server gave no answer in time, or was killed from outside: neither is an answer to the question."""


class Server:
    """A server process, which restarts after each question that kills it."""

    def __init__(self, python: str = sys.executable, **environment: str) -> None:
        import fcntl  # not on Windows, which Triton does not support either

        self.python, self.environment = python, environment
        self.process: subprocess.Popen[bytes] | brokered.Process | None = None
        self.pending = b""
        # Writing to a disk takes longer than a parse.
        memory = "/dev/shm" if os.path.isdir("/dev/shm") and not brokered.is_needed() else None
        self.stderr = tempfile.TemporaryFile("w+b", buffering=0, dir=memory)
        fcntl.fcntl(self.stderr, fcntl.F_SETFL, os.O_APPEND)  # the server empties the file between questions
        self.cache = tempfile.mkdtemp(prefix="oracle-", dir=memory)
        self.owner = os.getpid()
        atexit.register(self.close)

    def ask(self, requests: Sequence[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
        """One answer for each request, in order, within `seconds`. A request that kills Triton counts as refused."""
        answered = 0
        try:
            while answered < len(requests):
                self._send(requests[answered:])
                for request in requests[answered:]:
                    line = self._line(time.monotonic() + seconds)
                    answered += 1
                    if line is None:
                        yield self._obituary(request)
                        break
                    yield json.loads(line)
        finally:
            if answered < len(requests):  # interrupted: a late answer would be the next question's
                self.stop()

    def close(self) -> None:
        """Stop the process and remove its files."""
        if os.getpid() == self.owner:
            self.stop()
            shutil.rmtree(self.cache, ignore_errors=True)

    def _send(self, requests: Sequence[dict[str, Any]]) -> None:
        if self.process is None or self.process.poll() is not None:
            self._start()
        assert self.process is not None and self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process is dead already, which reading will show
            self.process.stdin.write(json.dumps(requests).encode() + b"\n")
            self.process.stdin.flush()

    def _start(self) -> None:
        ours = {"TRITON_CACHE_DIR": self.cache, "TRITON_DEFAULT_FP_FUSION": "1"} | self.environment
        self.pending = b""
        if brokered.is_needed():
            self.process = brokered.Process("tests.oracles.server", ours, self.stderr)
            return
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
        self.process = subprocess.Popen(
            [self.python, "-m", "tests.oracles.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            cwd=ROOT,
            env=environment | ours,
            start_new_session=True,  # our process group is killed with time to clean up
        )

    def stop(self) -> None:
        """Stop the process; the next question starts a new one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
            self.process = None

    def _line(self, deadline: float) -> bytes | None:
        """The next answer, or None if the process has died."""
        assert self.process is not None and self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self.pending:
            if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.stop()
                raise Silent("real Triton gave no answer in time")
            received = os.read(descriptor, 1 << 20)
            if not received:
                return None
            self.pending += received
        line, self.pending = self.pending.split(b"\n", 1)
        return line

    def _obituary(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process is not None
        status = self.process.wait()
        said = os.pread(self.stderr.fileno(), 1 << 16, 0).decode(errors="replace").strip()
        self.stop()
        if status not in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGILL, -signal.SIGFPE, -signal.SIGBUS):
            raise Silent(f"the process of real Triton ended with status {status}: {said[-300:]}")
        cause = next((line for line in said.splitlines() if "Assertion" in line or "ERROR" in line), "")
        reason = f"process aborted ({signal.Signals(-status).name}) {cause[-300:]}".strip()
        return {"ok": False, "error": "aborted", "diagnostic": reason}
