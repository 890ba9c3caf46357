"""Fixtures of the grader's own tests."""

from __future__ import annotations

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
