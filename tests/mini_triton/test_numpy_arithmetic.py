"""Every elementwise operation of the NumPy back end, on special numbers, compared with a GPU's recorded results."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import pytest

from tests.mini_triton.explained_values import APPROXIMATE, OPEN
from tests.oracles import values
from tests.oracles.elementwise import GRID, QUESTIONS, Question
from tests.support.m06_codegen import closeness, numpy_backend

T = TypeVar("T")


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.name)
def test_same_as_a_gpu(question: Question) -> None:
    expected = values.answer(question)
    operands = question.operands()
    got = numpy_backend.run(question.text, GRID, [*operands, question.result_before()])[-1]
    approximate, undefined = explained(APPROXIMATE, question), explained(OPEN, question)
    assert approximate
    judged = ~undefined.lanes(*operands) if undefined else np.ones(expected.shape, bool)
    wrong = closeness.wrong(got, expected, approximate.rounding) & judged
    if wrong.any():
        lane = int(np.flatnonzero(wrong)[0])
        of = ", ".join(str(operand[lane]) for operand in operands)
        raise AssertionError(
            f"{question.name} of {of}, and {np.count_nonzero(wrong) - 1} more\n"
            f"  expected  {expected[lane]}\n  got       {got[lane]}\n  because   that is what a GPU made of it"
        )


def explained(table: Mapping[str, T], question: Question) -> T | None:
    """The entry for a question: the one with the longest matching prefix of its name."""
    return table[max(known, key=len)] if (known := [key for key in table if question.name.startswith(key)]) else None
