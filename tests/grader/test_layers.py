"""The grader's packages import one way."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.curriculum import ROOT

PACKAGES = ("course", "report", "child", "parent", "learner", "teaching", "upkeep")


def imported(file: Path) -> Iterator[str]:
    """The names of modules that a file imports, in functions as well."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_packages_above_it(package: str) -> None:
    above = PACKAGES[: PACKAGES.index(package) + 1]
    files = [*(ROOT / "grader" / package).glob("*.py")]
    assert len(files) > 1
    for file in files:
        parts = [name.split(".") for name in imported(file) if name.startswith("grader")]
        assert all(len(part) > 1 and part[1] in above for part in parts), f"{file}: {parts}"
