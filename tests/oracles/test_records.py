"""The recorded answers and modules are real Triton's, and the readers read them."""

import re

import pytest

from tests.oracles import modules, questions, record, records, triton


@pytest.mark.parametrize("family", questions.FAMILIES)
def test_every_question_is_answered(family: str) -> None:
    assert set(records.load(family)["answers"]) == {questions.key(*parts) for parts in questions.FAMILIES[family]}


def test_records_are_current() -> None:
    triton.version()  # ends the test if Triton is not installed
    assert record.check() == []


def test_modules_are_current() -> None:
    assert modules.check() == []


def test_modules_name_no_machine() -> None:
    assert [name for name, text in modules.texts("located").items() if re.search(r'"/', text)] == []


def test_versions_that_differ_are_not_common() -> None:
    assert not records.block_shape((0,)).common  # refused since 3.8
    assert records.block_shape((3,)).common
