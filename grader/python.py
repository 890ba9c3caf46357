"""Python on the learner's code, begun at any milestone: the earlier ones are the reference's, as when it is judged."""

from __future__ import annotations

import code
import contextlib
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from grader import overlay, tracebacks
from grader.curriculum import Curriculum


def run(curriculum: Curriculum, milestones: Collection[int], file: Path | None) -> bool:
    """Run a file, or without one the typed lines; return whether it ended without an exception."""
    overlay.install(overlay.plan(curriculum, milestones, "learner"))
    tracebacks.hide(curriculum.solutions)
    names = {"__name__": "__main__"}
    if file is None:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 (lets lines be edited)
        numbers = ", ".join(map(str, sorted(milestones)))
        banner = f"Python {sys.version.split()[0]}, milestone {numbers} yours, earlier ones the reference's."
        code.interact(banner, Prompt(), names, exitmsg="")
        return True
    sys.argv = [str(file)]
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), names | {"__file__": str(file)})
    except Exception as error:
        assert error.__traceback__
        sys.excepthook(type(error), error, error.__traceback__.tb_next)  # without the line above
        return False
    return True


class Prompt:
    """Reads lines as they are typed, or as they are pasted from a chapter, with `>>> ` and `... `."""

    def __init__(self, read: Callable[[str], str] = input) -> None:
        self.read = read
        self.waiting: list[str] = []

    def __call__(self, prompt: str = "") -> str:
        line = self.waiting.pop() if self.waiting else self.read(prompt)
        if line.startswith(">>>") and prompt.startswith("..."):
            self.waiting.append(line)  # a new example ends the block before it
            return ""
        return re.sub(r"^(>>>|\.\.\.)( |$)", "", line)
