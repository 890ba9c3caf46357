"""The tests that must report, read from their files without running them: what does not report is no pass."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

from grader.curriculum import Curriculum, Task

_ALONE = threading.Lock()
"""Wrong solutions are graded by several threads, and two that parse at once make Python 3.11 fail now and then."""


def tests_of(task: Task, curriculum: Curriculum) -> list[str]:
    """The names of a task's tests, in order: `tests/m01_types/test_1_4_promotion.py::test_two_tensors`."""
    return [
        f"{path.relative_to(curriculum.root).as_posix()}::{name}"
        for path in curriculum.test_files(task)
        for name in functions(path)
    ]


def functions(path: Path) -> list[str]:
    """The test functions of a file; a file that is no Python has none."""
    try:
        with _ALONE:
            tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return []
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in dict.fromkeys(names) if name.startswith("test_")]
