"""Fixtures of the grader's own tests."""

import sys
from pathlib import Path

import pytest

from tests.grader import small_course


@pytest.fixture
def tiny(tmp_path: Path) -> small_course.Course:
    """A small course of its own, with the stubs as the learner's tree."""
    return small_course.make(tmp_path)


@pytest.fixture
def solved(tiny: small_course.Course) -> small_course.Course:
    """The same with everything solved."""
    tiny.solve()
    return tiny


@pytest.fixture
def long_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands on the screen name the Python of an environment in this folder, as under nox."""
    monkeypatch.setattr(sys, "executable", str(Path.cwd() / ".nox" / "kata-3.11" / "bin" / "python"))
    monkeypatch.setattr(sys, "prefix", str(Path.cwd() / ".nox" / "kata-3.11"))
