"""Start Python with the learner's code of any milestones; earlier milestones come from the same place as in grading."""

from __future__ import annotations

import code
import codeop
import contextlib
import re
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from grader.child import overlay, tracebacks
from grader.course.curriculum import Curriculum

_AT_ONCE = 0.05  # seconds; nobody types a line in so short a time


def run(curriculum: Curriculum, milestones: Collection[int], file: Path | None) -> bool:
    """Run a file, or the typed lines if there is no file. Return whether the file ended without an exception."""
    overlay.install(overlay.plan(curriculum, milestones, "learner"))
    tracebacks.hide(curriculum.solutions)
    names = {"__name__": "__main__"}
    if file is None:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 (lets lines be edited)
        Console(names).interact(f"Python {sys.version.split()[0]} with {_whose(curriculum, milestones)}.", exitmsg="")
        return True
    sys.argv = [str(file)]
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), names | {"__file__": str(file)})
    except Exception as error:
        assert error.__traceback__
        sys.excepthook(type(error), error, error.__traceback__.tb_next)  # the banner is printed already
        return False
    return True


def _whose(curriculum: Curriculum, milestones: Collection[int]) -> str:
    """Whose code the prompt runs."""
    yours = f"your code for milestone {', '.join(map(str, sorted(milestones)))}"
    if min(milestones) == curriculum.milestones[0].number:
        return yours
    others = "the reference's for the earlier ones" if curriculum.has_solutions else "the earlier ones"
    return f"{yours} and {others}"


class Console(code.InteractiveConsole):
    """A prompt that also takes examples pasted from a chapter: with `>>> ` and their outputs, which it skips, and
    without blank lines after blocks."""

    in_example = False  # since a line with `>>> `, up to a blank line

    def raw_input(self, prompt: str = "") -> str:
        while True:
            asked = time.monotonic()
            line = super().raw_input(prompt)
            is_pasted = time.monotonic() - asked < _AT_ONCE
            if mark := re.match(r"(>>>|\.\.\.)( |$)", line):
                self.in_example = True
                return line[mark.end() :]
            if not (self.in_example and is_pasted and line.strip()):
                self.in_example = False
                return line
            if self.buffer:
                return ""  # ends the block whose output this is

    def push(self, line: str, *rest: Any) -> bool:
        block = "\n".join(self.buffer)
        if block and line and not re.match(r"\s|(else|elif|except|finally|case)\b", line) and is_complete(block):
            super().push("", *rest)  # a statement that is not indented ends the block before it
        return super().push(line, *rest)


def is_complete(block: str) -> bool:
    """Whether a blank line would end this block; none ends an open bracket or text."""
    try:
        return codeop.compile_command(block + "\n") is not None
    except (SyntaxError, ValueError, OverflowError):
        return False
