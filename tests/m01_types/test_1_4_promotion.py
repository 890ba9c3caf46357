"""Task 1.4: the dtype to which two tensors are promoted, for every pair of dtypes."""

import itertools
from collections.abc import Callable

import pytest
from mini_triton.language.dtypes import DTYPES, promote

from tests.checks import calling
from tests.oracles import questions, records

WIDE = {"fp32", "fp64"}
HALF = {"fp16", "bf16"}
FP8 = {"fp8e5", "fp8e4nv", *questions.LIKE}
INTEGERS = set(questions.INTEGERS)
PAIRS = [
    (lhs, rhs)
    for lhs, rhs in itertools.product((*questions.DTYPES, *questions.LIKE), repeat=2)
    if lhs == rhs or questions.like(lhs) != questions.like(rhs)
]


def agrees(lhs: str, operator: str, rhs: str) -> None:
    """Compare with real Triton's recorded answer."""
    answer = records.promotion(questions.like(lhs), questions.like(rhs), operator)
    if not answer.common:
        return  # Triton's versions differ, so every answer is accepted
    question = f"in real Triton, {lhs} {operator} {rhs}"
    arguments = (DTYPES[lhs], DTYPES[rhs])
    call = calling(promote, *arguments) if operator == "+" else calling(promote, *arguments, div_or_mod=True)
    if answer.ok:
        result = {questions.like(name): name for name in (lhs, rhs)}.get(answer.value, answer.value)
        call.returns(DTYPES[result], because=f"{question} is {result}")
    else:
        call.raises(TypeError, lhs, rhs, because=f"{question} is refused: {answer.text}")


GROUPS: dict[str, Callable[[set[str]], object]] = {
    "fp64 and fp32 with anything": lambda pair: pair & WIDE,
    "fp16 and bf16 with anything narrower": lambda pair: pair & HALF and not pair & WIDE,
    "integers": lambda pair: pair <= INTEGERS,
    "fp8 with fp8 and with integers": lambda pair: pair & FP8 and pair <= FP8 | INTEGERS,
}


@pytest.mark.parametrize("group", GROUPS)
def test_two_tensors(group: str) -> None:
    for lhs, rhs in PAIRS:
        if GROUPS[group]({lhs, rhs}):
            agrees(lhs, "+", rhs)


def test_division_and_remainder() -> None:
    for lhs, rhs in PAIRS:
        agrees(lhs, "//" if {lhs, rhs} <= INTEGERS else "/", rhs)
        agrees(lhs, "%", rhs)
