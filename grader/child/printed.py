"""The end of what the code under test prints."""

from __future__ import annotations

import io
import os

_LINES, _CHARACTERS = 3, 600


class Printed(io.TextIOWrapper):
    """A substitute for `sys.stdout` that remembers only the end of the output, and the number of lines."""

    def __init__(self) -> None:
        super().__init__(open(os.devnull, "wb"), encoding="utf-8")
        self.clear()

    def clear(self) -> None:
        """Forget the output."""
        self._end = ""
        self._newlines = 0

    def write(self, text: str) -> int:
        self._end = (self._end + text)[-_CHARACTERS:]
        self._newlines += text.count("\n")
        return len(text)

    def __str__(self) -> str:
        lines = self._end.splitlines()[-_LINES:]
        before = self._newlines + (not self._end.endswith("\n")) - len(lines)
        return "\n".join([f"… {before} earlier lines", *lines] if lines and before > 0 else lines)
