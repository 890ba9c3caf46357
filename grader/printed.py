"""What the code under test prints: a test shows the end of it."""

from __future__ import annotations

import io
import os

_LINES, _CHARACTERS = 3, 600


class Printed(io.TextIOWrapper):
    """Stands in for `sys.stdout`; remembers only the end of what is written, and how many lines there were."""

    def __init__(self) -> None:
        super().__init__(open(os.devnull, "wb"), encoding="utf-8")
        self.clear()

    def clear(self) -> None:
        """Forget what was written."""
        self._end = ""
        self._newlines = 0

    def write(self, text: str) -> int:
        self._end = (self._end + text)[-_CHARACTERS:]
        self._newlines += text.count("\n")
        return len(text)

    def __str__(self) -> str:
        lines = self._end.splitlines()[-_LINES:]
        before = self._newlines + (not self._end.endswith("\n")) - len(lines)
        return "\n".join([f"… {before} lines before", *lines] if lines and before > 0 else lines)
