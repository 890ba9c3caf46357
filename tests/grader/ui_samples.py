"""A course of two tasks on disk, and reports made by hand: what the tests of the user interface look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader import stubs
from grader.curriculum import Curriculum, load
from grader.verdicts import MilestoneResult, ModuleOrigin, Report, TaskResult, TestResult, Verdict

_DECLARATION = """
number = 1
key = "numbers"
title = "Numbers"
summary = "Two functions."
modules = ["mini_triton", "mini_triton.numbers"]

[[task]]
id = "1.1"
title = "Twice"
points = 1
minutes = 10
hints = ["Add.", "Add it to itself.", "x + x"]

[[task]]
id = "1.2"
title = "Half"
points = 2
minutes = 20
hints = ["Divide.", "By two.", "x // 2"]
"""

REFERENCE = '''"""Numbers."""


class Number:
    def twice(self, x: int) -> int:
        """Two times x."""
        # [task 1.1] Add.
        # It is its own neighbour.
        return x + x
        # [end]


def half(x: int) -> int:
    """Rounded down."""
    # [task 1.2] Divide.
    return x // 2
    # [end]
'''


def course(root: Path) -> Curriculum:
    """The course below `root`, its stubs generated."""
    files = {
        "grader/curriculum/m01_numbers.toml": _DECLARATION,
        "solutions/mini_triton/__init__.py": '"""The package."""\n',
        "solutions/mini_triton/numbers.py": REFERENCE,
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    curriculum = load(root)
    stubs.write(curriculum)
    return curriculum


def result(task: str, verdict: Verdict, message: str = "", name: str = "works", **facts: Any) -> TestResult:
    """One test's outcome."""
    file = f"tests/m01_numbers/test_{task.replace('.', '_')}_case.py"
    return TestResult(f"{file}::test_{name}", verdict, message, seconds=0.25, **facts)


def report(*tasks: tuple[str, list[TestResult]], impl: str = "learner") -> Report:
    """A report on the first milestone."""
    results = [TaskResult(id, {"1.1": "Twice", "1.2": "Half"}[id], int(id[-1]), tests) for id, tests in tasks]
    return Report(
        target=["milestone1"],
        impl=impl,
        fill="reference",
        device="cpu",
        seed=0,
        oracles={"triton": "records 3.7.1"},
        milestones=[MilestoneResult("milestone1", "numbers", results)],
        modules=[ModuleOrigin("mini_triton.numbers", "learner", "exercises/mini_triton/numbers.py", "ab" * 32)],
        seconds=1.5,
    )
