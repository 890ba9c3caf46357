"""Values are recorded for all that there is, and questions are such that they can be asked."""

from __future__ import annotations

import numpy as np
import pytest

from tests import oracles
from tests.corpus import CASES
from tests.oracles import elementwise, triton, values
from tests.oracles.elementwise import LANES, QUESTIONS

RECORDED = {values.FILES[0]: [str(case) for case in CASES], values.FILES[1]: list(QUESTIONS)}
MEGABYTES = 3


@pytest.mark.parametrize("file", RECORDED)
def test_all_is_recorded(file: str) -> None:
    if not (values.FOLDER / file).exists():
        oracles.unavailable(f"there is no {file}")
    assert (values.FOLDER / file).stat().st_size < MEGABYTES << 19
    assert set(values.about(file)["asked"]) >= set(RECORDED[file])


def test_operands() -> None:
    """Divisions have a result, shifts go to the width and beyond, and there are a thousand of each."""
    assert all(operand.shape == (LANES,) for question in QUESTIONS.values() for operand in question.operands())
    x, y = QUESTIONS["arith.divsi i8"].operands()
    assert y.all() and not ((x == -128) & (y == -1)).any()
    assert set(QUESTIONS["arith.shli i16"].operands()[1]) == set(range(18))
    x, y = QUESTIONS["arith.maxnumf f16"].operands()
    assert np.isnan(x[np.isnan(y)]).any() and not np.isnan(x[np.isnan(y)]).all()
    assert len(set(QUESTIONS["tt.fp_to_fp f8E5M2 -> f32"].operands()[0].view(np.uint8))) == 256


def test_real_triton_accepts_all_questions() -> None:
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    answers = triton.accepts_many([question.text for question in QUESTIONS.values()])
    refused = [question.name for question, answer in zip(QUESTIONS.values(), answers, strict=True) if not answer]
    assert len(elementwise.QUESTIONS) > 400 and refused == []
