"""The recorded answers are real Triton's, and the readers read them."""

from __future__ import annotations

import pytest

from tests import oracles
from tests.oracles import questions, record, records, triton


@pytest.mark.parametrize("family", questions.FAMILIES)
def test_every_question_is_answered(family: str) -> None:
    keys = {questions.key(*parts) for parts in questions.FAMILIES[family]}
    assert set(records.load(family)["answers"]) == keys


def test_records_are_current() -> None:
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    assert record.check() == []


def test_versions_that_differ_are_not_common() -> None:
    empty = records.block_shape((0,))
    assert not empty.common
    assert "3.6.0" in empty.versions and "3.9.0" not in empty.versions
    assert records.block_shape((3,)).common
