"""Start Python with the learner's code of any milestones; earlier milestones come from the same place as in grading."""

from __future__ import annotations

import code
import codeop
import contextlib
import re
import runpy
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from grader.child import overlay, tracebacks
from grader.course.curriculum import Curriculum

_AT_ONCE = 0.05  # seconds; nobody types a line in so short a time


def run(curriculum: Curriculum, milestones: Collection[int], program: Sequence[str]) -> bool:
    """Run a program, and return whether it ended without an exception.

    The program is a file or `-m` and a module, followed by arguments; if it is empty, the typed lines run.
    """
    plan = overlay.plan(curriculum, milestones, "learner")
    if program:
        return execute(curriculum, plan, program)
    overlay.install(plan)
    tracebacks.hide(curriculum.solutions)
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 (lets lines be edited)
    banner = f"Python {sys.version.split()[0]} with {_whose(curriculum, milestones)}."
    Console({"__name__": "__main__"}).interact(banner, exitmsg="")
    return True


def execute(
    curriculum: Curriculum, plan: overlay.ModulePlan, program: Sequence[str], report: Callable[..., None] | None = None
) -> bool:
    """Run a program with the modules of a plan, and return whether it ended without an exception.

    `report` gets the exception in place of `sys.excepthook`.
    """
    overlay.install(plan)
    tracebacks.hide(curriculum.solutions)
    is_module = program[0] == "-m"
    sys.argv = list(program[is_module:])
    try:
        if is_module:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            names = {"__name__": "__main__", "__file__": program[0]}
            exec(compile(Path(program[0]).read_bytes(), program[0], "exec"), names)
    except Exception as error:
        at = error.__traceback__
        while at and at.tb_frame.f_code.co_filename in (__file__, runpy.run_module.__code__.co_filename):
            at = at.tb_next
        (report or sys.excepthook)(type(error), error, at)
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
