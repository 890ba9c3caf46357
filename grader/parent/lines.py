"""Exchange lines with an untrusted process. The length of each line is limited, and so is the wait for it."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import IO

_AHEAD = 1000  # how many lines the process may be ahead of the reader


class Lines:
    """The lines of a pipe in which `mark` occurs; then b"", as after a line that is too long."""

    def __init__(self, pipe: IO[bytes], longest: int, mark: bytes = b"") -> None:
        self._lines: queue.Queue[bytes] = queue.Queue(_AHEAD)
        # A thread, since not every system can wait for a pipe with a time limit.
        threading.Thread(target=self._read, args=(pipe, longest, mark), daemon=True).start()

    def next(self, seconds: float) -> bytes | None:
        """The next line; None if no line comes in time."""
        try:
            return self._lines.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            return None

    @property
    def waiting(self) -> bool:
        """Whether a line has come that nobody has read."""
        return not self._lines.empty()

    def _read(self, pipe: IO[bytes], longest: int, mark: bytes) -> None:
        while line := pipe.readline(longest):
            if not line.endswith(b"\n"):
                break
            if mark in line:
                self._lines.put(line)
        self._lines.put(b"")


def send(pipe: IO[bytes], data: bytes, seconds: float) -> bool:
    """Write to a process. Returns whether it has taken all of `data` in time, or has closed the pipe."""

    def write() -> None:
        with suppress(OSError, ValueError):
            pipe.write(data)
            pipe.flush()

    # A thread, since a process that does not read blocks the writer until the process ends.
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    writer.join(seconds)
    return not writer.is_alive()
