"""One table of all out-of-bounds accesses of a run, printed when the program ends. (Given.)"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Row:
    """The accesses of one line of a kernel to one argument."""

    lines: Sequence[str]  # that describe the first access
    launches: int = 0
    elements: int = 0

    def add(self, elements: int) -> None:
        """Count a launch with accesses to so many elements."""
        self.launches += 1
        self.elements += elements

    def __str__(self) -> str:
        first, *others = self.lines
        return "\n".join([f"{self.launches:8}  {self.elements:8}  {first}", *(f"{'':24}{line}" for line in others)])


rows: dict[tuple[object, ...], Row] = {}
"""The rows by kernel, line, argument, and whether the access writes."""


@atexit.register
def show() -> None:
    """Print the table to standard error, unless it is empty, and empty it."""
    if rows:
        title = f"out of bounds, at {len(rows)} place{'s' if len(rows) > 1 else ''}:"
        print("\n".join([title, "launches  elements  place", *map(str, rows.values())]), file=sys.stderr)
        rows.clear()
