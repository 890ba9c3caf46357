"""Values are recorded for every case, and every question can be asked."""

import pytest

from tests import oracles
from tests.corpus import CASES
from tests.oracles import elementwise, triton, values
from tests.oracles.elementwise import QUESTIONS

RECORDED = {values.FILES[0]: [str(case) for case in CASES], values.FILES[1]: list(QUESTIONS)}
MEGABYTES = 3


@pytest.mark.parametrize("file", RECORDED)
def test_all_is_recorded(file: str) -> None:
    if not (values.FOLDER / file).exists():
        oracles.unavailable(f"there is no {file}")
    assert (values.FOLDER / file).stat().st_size < MEGABYTES << 19
    assert set(values.about(file)["asked"]) >= set(RECORDED[file])


def test_real_triton_accepts_all_questions() -> None:
    answers = triton.accepts_many([question.text for question in QUESTIONS.values()])
    refused = [question.name for question, answer in zip(QUESTIONS.values(), answers, strict=True) if not answer]
    assert len(elementwise.QUESTIONS) > 400 and refused == []
