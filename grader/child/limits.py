"""Limits that a child process sets for itself: time for each step, memory, size of files."""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

GRACE = 2.0  # seconds after which code that ignores `OutOfTime` ends with its process
FILE_SIZE = 256 << 20


class OutOfTime(BaseException):
    """Raised in code that runs for too long. Not an `Exception`, so that hypothesis and `except` do not catch it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"still running after {seconds:g} seconds")


class TimeLimit:
    """Ends code that runs for too long: by an exception if Python can raise one, otherwise by ending the process.

    Before the process ends, and also if it crashes, the stacks of all threads are written to `trace`.
    """

    def __init__(self, trace: IO[str]) -> None:
        self._trace = trace
        self._limits = 0.0, 0.0
        self.reached: OutOfTime | None = None  # the last one raised in the current or the latest `with` block
        faulthandler.enable(trace)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._raise)
            signal.signal(signal.SIGVTALRM, self._raise)

    @contextmanager
    def __call__(self, seconds: float, busy: float = 0.0) -> Iterator[None]:
        """Limit the `with` block to `seconds`, and to `busy` seconds of processor time if `busy` is given."""
        self._limits, self.reached = (seconds, busy), None
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=self._trace)
        _alarm(seconds, busy)
        try:
            yield
        finally:
            _alarm(0, 0)
            faulthandler.cancel_dump_traceback_later()

    def _raise(self, signum: int, frame: object) -> None:
        self.reached = OutOfTime(self._limits[signum != signal.SIGALRM])
        raise self.reached


def limit_memory(memory: int | None) -> None:
    """Lower the limits of this process on address space and on files, where the system has such limits.

    Only the soft limits change, so an oracle that needs more memory in a process of its own may raise them again.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = [(resource.RLIMIT_FSIZE, FILE_SIZE)]
    if memory:
        limits.append((resource.RLIMIT_AS, memory))
    for kind, value in limits:
        hard = resource.getrlimit(kind)[1]
        try:
            resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
        except (OSError, ValueError):  # macOS knows RLIMIT_AS but may refuse to lower it
            continue


def _alarm(seconds: float, busy: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        signal.setitimer(signal.ITIMER_VIRTUAL, busy)
