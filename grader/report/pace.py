"""Print a line of progress every few seconds during long work, because a CI log shows nothing else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable

INTERVAL = 5.0  # seconds


class Pace:
    """Counts finished pieces of `total`, and prints the count at regular intervals until its `with` block ends."""

    def __init__(self, what: str, total: int = 0, say: Callable[[str], object] | None = None) -> None:
        self.what = what
        self.total = total
        self.note = ""  # goes to the end of each line
        self._say = say or (lambda line: print(line, file=sys.stderr, flush=True))
        self._done: set[Hashable] = set()
        self._started = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> Pace:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def finish(self, key: Hashable) -> None:
        """Count one piece of the work. A piece that finishes a second time is not counted again."""
        self._done.add(key)

    def line(self, seconds: float) -> str:
        """The progress after this many seconds, the rate, and the time that the rest will take."""
        done = len(self._done)
        text = f"{self.what}: {done} of {self.total}, {duration(seconds)}"
        if done:
            left = (self.total - done) * seconds / done
            text += f", {done / seconds:.1f} a second, about {duration(left)} left"
        return f"{text}{self.note}"

    def _repeat(self) -> None:
        while not self._over.wait(INTERVAL):
            self._say(self.line(time.monotonic() - self._started))


def duration(seconds: float) -> str:
    """A duration in words: "40 s", "3 min 20 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
