"""Limits that a child process sets for itself: time for each step, memory, size of files."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

GRACE = 2.0  # seconds after which code that ignores `OutOfTime` ends with its process
EXTENDED = 3  # times the limit for code that hardly had a processor; the parent waits for as long
CROWDED = 4  # running programs per processor
FILE_SIZE = 256 << 20


class OutOfTime(BaseException):
    """Raised in code that runs for too long. Not an `Exception`, so that hypothesis and `except` do not catch it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"still running after {seconds:g} seconds")


class TimeLimit:
    """Ends code that runs for too long: by an exception if Python can raise one, otherwise by ending the process.

    On a crowded machine, code that hardly had a processor gets more time, once. Before the process ends, and also if it
    crashes, the stacks of all threads are written to `trace`.
    """

    def __init__(self, trace: IO[str]) -> None:
        self._trace = trace
        self._limits = 0.0, 0.0
        self._start = 0.0  # processor time at the start of the current or the latest `with` block
        self._may_extend = False
        self.reached: OutOfTime | None = None  # the last one raised in the current or the latest `with` block
        faulthandler.enable(trace)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._raise)
            signal.signal(signal.SIGVTALRM, self._raise)

    @contextmanager
    def __call__(self, seconds: float, busy: float = 0.0) -> Iterator[None]:
        """Limit the `with` block to `seconds`, and to `busy` seconds of processor time if `busy` is given."""
        self._limits, self.reached = (seconds, busy), None
        self._start, self._may_extend = time.process_time(), True
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=self._trace)
        _alarm(seconds, busy)
        try:
            yield
        finally:
            _alarm(0, 0)
            faulthandler.cancel_dump_traceback_later()

    def _raise(self, signum: int, frame: object) -> None:
        seconds = self._limits[signum != signal.SIGALRM]
        computed = time.process_time() - self._start
        if signum == signal.SIGALRM and self._may_extend and computed < seconds / 4 and _is_crowded():
            self._may_extend = False
            self._limits = EXTENDED * seconds, self._limits[1]
            faulthandler.dump_traceback_later((EXTENDED - 1) * seconds + GRACE, exit=True, file=self._trace)
            signal.setitimer(signal.ITIMER_REAL, (EXTENDED - 1) * seconds)
            return
        self.reached = OutOfTime(seconds)
        raise self.reached


def _is_crowded() -> bool:
    try:
        return os.getloadavg()[0] > CROWDED * (os.cpu_count() or 1)
    except (AttributeError, OSError):  # not on this system
        return False


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
