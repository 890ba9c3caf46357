"""What the grader's own tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grader import engine_course


@pytest.fixture
def tiny(tmp_path: Path) -> engine_course.Course:
    """A small course of its own, with the stubs as the learner's tree."""
    return engine_course.make(tmp_path)


@pytest.fixture
def solved(tiny: engine_course.Course) -> engine_course.Course:
    """The same with everything solved."""
    tiny.solve()
    return tiny
