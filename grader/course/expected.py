"""The tests that must report, read from their files without running them: a test without a report has not passed."""

from __future__ import annotations

import ast
from pathlib import Path

from grader.course import syntax
from grader.course.curriculum import Curriculum, Task


def tests_of(task: Task, curriculum: Curriculum) -> list[str]:
    """The names of a task's tests, in order: `tests/m01_types/test_1_4_promotion.py::test_two_tensors`."""
    return [
        f"{path.relative_to(curriculum.root).as_posix()}::{name}"
        for path in curriculum.test_files(task)
        for name in functions(path)
    ]


def functions(path: Path) -> list[str]:
    """The tests of a file, including shared ones, `test_x = support.test_x`; [] if the file is not Python."""
    try:
        tree = syntax.parse(path.read_bytes())
    except SyntaxError:
        return []
    names = [name for node in tree.body for name in _bound(node)]
    return [name for name in dict.fromkeys(names) if name.startswith("test_")]


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
