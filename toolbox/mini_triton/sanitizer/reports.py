"""The sanitizer's reports: an error after the launch, or a list. (Given.)"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from mini_triton.environment import OFF, ON, SANITIZE
from mini_triton.errors import TritonError

KINDS = ("uninitialized", "races", "masked", "overflow", "division")
"""The kinds of errors to look for: `MINI_TRITON_SANITIZE=races,masked`."""

Ids = tuple[int, int, int]


@dataclass
class Report:
    """One defect: the error, its line, and where it matters."""

    kind: str
    kernel: str
    what: str  # "x[5] is read, but was never written"
    place: str  # of the error: "file:line"
    program: Ids
    use: str = ""  # what the value is used for: "it is stored to out[5]"
    used_at: str = ""
    argument: str = ""
    element: int | None = None
    other: Ids | None = None  # for a race: the program that wrote before
    count: int = 1  # affected elements, over all programs

    @property
    def line(self) -> int:
        """The line of the kernel."""
        return int(self.place.rpartition(":")[2] or 0)

    def __str__(self) -> str:
        more = f", and {self.count - 1} more like it" if self.count > 1 else ""
        lines = [f"{self.kernel}: {self.kind}: {self.what}{more}", *excerpt("at", self.place, self.program)]
        if self.use:
            lines += [f"  {self.use}", *(excerpt("at", self.used_at) if self.used_at != self.place else [])]
        return "\n".join(lines)


def excerpt(word: str, place: str, program: Ids | None = None) -> list[str]:
    """A line with the place, and a line with the source line there."""
    file, _, line = place.rpartition(":")
    source = linecache.getline(file, int(line or 0)).strip()
    return [f"  {word} {place}" + (f" by program {program}" if program else ""), f"      {source}"]


class SanitizerError(TritonError):
    """A kernel ran, and the sanitizer found defects in it: `reports`."""

    def __init__(self, reports: list[Report]) -> None:
        super().__init__("\n".join(["", *map(str, reports)]))
        self.reports = reports

    def __reduce__(self) -> tuple[type[SanitizerError], tuple[list[Report]]]:
        return type(self), (self.reports,)


_collected: ContextVar[list[Report] | None] = ContextVar("collected", default=None)


@contextmanager
def collect() -> Iterator[list[Report]]:
    """Inside the `with`, defects do not raise errors; their reports are added to this list."""
    reports: list[Report] = []
    token = _collected.set(reports)
    try:
        yield reports
    finally:
        _collected.reset(token)


def publish(reports: list[Report]) -> None:
    """Add reports to the list of `collect`; outside of `collect`, raise `SanitizerError` if there are any reports."""
    collected = _collected.get()
    if collected is not None:
        collected += reports
    elif reports:
        raise SanitizerError(reports)


def wanted() -> frozenset[str]:
    """The value of `MINI_TRITON_SANITIZE`. Raises `ValueError` for an unknown word."""
    text = os.environ.get(SANITIZE)
    if not text or text.lower() in OFF:
        return frozenset()
    if text.lower() in (*ON, "all"):
        return frozenset(KINDS)
    words = {word.strip() for word in text.split(",")} - {""}
    if unknown := words.difference(KINDS):
        known = ", ".join(KINDS)
        raise ValueError(f"{SANITIZE} must be 1, all, or some of {known}, not {', '.join(sorted(unknown))}")
    return frozenset(words)
