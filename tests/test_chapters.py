"""The chapters' examples are true."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

CHAPTERS = sorted((Path(__file__).parent.parent / "docs").glob("m[0-9][0-9]_*.md"))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_examples(chapter: Path) -> None:
    failed, _ = doctest.testfile(str(chapter), module_relative=False, encoding="utf-8")
    assert not failed
