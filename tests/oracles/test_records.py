"""The recorded answers are real Triton's, and the readers read them."""

from __future__ import annotations

import pytest

from tests import oracles
from tests.oracles import questions, record, records, triton


@pytest.mark.parametrize("family", questions.FAMILIES)
def test_every_question_is_answered(family: str) -> None:
    keys = {questions.key(*parts) for parts in questions.FAMILIES[family]()}
    assert set(records.load(family)["answers"]) == keys


def test_records_are_current() -> None:
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    assert record.check() == []


def test_readers() -> None:
    assert records.promotion("fp16", "bf16").value == "fp16"
    assert records.promotion("int8", "uint8", "//").error == "TypeError"
    assert records.literal_promotion("int8", 300).error == "ValueError"
    assert records.literal_promotion("fp16", 1, "/", literal_first=True).value == "fp32"
    assert records.literal_type(True).value == "int1"
    assert records.cast_ops("fp32", "int1").value == (records.CastOp("arith.cmpf", "une", "i1"),)
    assert records.broadcast((2, 1), (4,)).value == (2, 4)
    assert records.block_shape((128, 64)).value == 8192


def test_versions_that_differ_are_not_common() -> None:
    empty = records.block_shape((0,))
    assert not empty.common
    assert "3.6.0" in empty.versions and "3.9.0" not in empty.versions
    assert records.block_shape((3,)).common


def test_merging_keeps_other_versions() -> None:
    answers = {"3.6.0": "a", "3.7.1": "b", "3.8.0": "a"}
    merged = record._merge(answers, list(answers))
    assert merged == {"by_version": {"3.6.0 3.8.0": "a", "3.7.1": "b"}}
    assert records.by_version(merged, list(answers)) == answers
    assert record._merge(dict.fromkeys(answers, "a"), list(answers)) == "a"
    assert record._merge({"3.6.0": "a"}, list(answers)) == {"by_version": {"3.6.0": "a"}}
