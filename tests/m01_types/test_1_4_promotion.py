"""Task 1.4: the dtype in which two tensors meet, for every two dtypes that there are."""

from __future__ import annotations

import itertools

from mini_triton.language.dtypes import DTYPES, promote

from tests.checks import calling
from tests.oracles import questions, records

WIDE = {"fp32", "fp64"}
HALF = {"fp16", "bf16"}
FP8 = {"fp8e5", "fp8e4nv"}
INTEGERS = set(questions.INTEGERS)
PAIRS = list(itertools.product(questions.DTYPES, questions.DTYPES))


def agrees(lhs: str, operator: str, rhs: str) -> None:
    """Ask what real Triton was asked."""
    answer = records.promotion(lhs, rhs, operator)
    if not answer.common:
        return  # its versions differ: nothing to be right or wrong about
    question = f"real Triton's {lhs} {operator} {rhs}"
    arguments = (DTYPES[lhs], DTYPES[rhs])
    call = calling(promote, *arguments) if operator == "+" else calling(promote, *arguments, div_or_mod=True)
    if answer.ok:
        call.returns(DTYPES[answer.value], because=f"{question} is {answer.value}")
    else:
        call.raises(TypeError, lhs, rhs, because=f"{question} is refused: {answer.text}")


def test_fp64_and_fp32_with_anything() -> None:
    for lhs, rhs in PAIRS:
        if {lhs, rhs} & WIDE:
            agrees(lhs, "+", rhs)


def test_fp16_and_bf16_with_anything_narrower() -> None:
    for lhs, rhs in PAIRS:
        if {lhs, rhs} & HALF and not {lhs, rhs} & WIDE:
            agrees(lhs, "+", rhs)


def test_integers() -> None:
    for lhs, rhs in PAIRS:
        if {lhs, rhs} <= INTEGERS:
            agrees(lhs, "+", rhs)


def test_fp8_with_fp8_and_with_integers() -> None:
    for lhs, rhs in PAIRS:
        if {lhs, rhs} & FP8 and {lhs, rhs} <= FP8 | INTEGERS:
            agrees(lhs, "+", rhs)


def test_division_and_remainder_of_floats() -> None:
    for lhs, rhs in PAIRS:
        if not {lhs, rhs} <= INTEGERS:
            agrees(lhs, "/", rhs)
            agrees(lhs, "%", rhs)


def test_division_and_remainder_of_integers() -> None:
    for lhs, rhs in PAIRS:
        if {lhs, rhs} <= INTEGERS:
            agrees(lhs, "//", rhs)
            agrees(lhs, "%", rhs)
