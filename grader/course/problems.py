"""Broken rules of the project, with their places, and requests that cannot be met."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Problem:
    """An error at a line of a file; line 0 means the file as a whole."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.text}"


class UsageError(Exception):
    """The request cannot be met; the text tells the user why."""
