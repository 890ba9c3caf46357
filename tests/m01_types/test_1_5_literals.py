"""Task 1.5: Python numbers, alone and beside a tensor."""

import itertools
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.language.dtypes import DTYPES, literal_dtype, promote_literal

from tests.checks import calling
from tests.oracles import questions, records

FORMATS = {"int32": "=i", "uint32": "=I", "int64": "=q", "uint64": "=Q"}  # formats of Python's `struct`
NARROW_FORMATS = {"int8": "=b", "int16": "=h", "uint8": "=B", "uint16": "=H"}

near_powers_of_two = st.builds(
    lambda sign, power, offset: sign * 2**power + offset,
    st.sampled_from((1, -1)),
    st.sampled_from((0, 7, 8, 15, 16, 31, 32, 40, 63, 64, 65)),
    st.integers(-3, 3),
)
integers = near_powers_of_two | st.integers()


def holds(format: str, value: int) -> bool:
    """Whether C's integer type of this format can hold `value`."""
    try:
        struct.pack(format, value)
    except struct.error:
        return False
    return True


def agrees(dtype: str, operator: str, value: bool | int | float) -> None:
    """Compare with real Triton's recorded answer."""
    answer = records.literal_promotion(dtype, value, operator)
    if not answer.common:
        return  # Triton's versions differ, so every answer is accepted
    question = f"in real Triton, {dtype} {operator} {value!r}"
    arguments = (DTYPES[dtype], value)
    call = calling(promote_literal, *arguments, **{"div_or_mod": True} if operator == "%" else {})
    because = f"{question} is {answer.value}" if answer.ok else f"{question} is refused: {answer.text}"
    if answer.ok:
        call.returns(DTYPES[answer.value], because)
    elif answer.error == "TypeError":
        call.raises(TypeError, "int1", because=because)
    elif "Nonrepresentable" in answer.text:
        call.raises(ValueError, repr(value), because=because)
    elif "negative" in answer.text:
        call.raises(ValueError, "unsigned", "negative", because=because)
    else:
        call.raises(ValueError, repr(value), dtype, because=because)


def test_numbers_alone() -> None:
    for value in questions.LONE_LITERALS:
        answer = records.literal_type(value)
        if answer.ok:
            calling(literal_dtype, value).returns(DTYPES[answer.value], because=f"real Triton chooses {answer.value}")
        else:
            calling(literal_dtype, value).raises(ValueError, repr(value), because=f"real Triton: {answer.text}")


@given(value=integers)
def test_integers_alone(value: int) -> None:
    for dtype, format in FORMATS.items():
        if holds(format, value):
            calling(literal_dtype, value).returns(DTYPES[dtype], because=f"{dtype} is the first dtype that can hold it")
            return
    calling(literal_dtype, value).raises(ValueError, str(value), because="no dtype can hold it")


@example(significand=2**53 - 2**29, exponent=127, sign=1)
@example(significand=2**53 - 2**29 + 1, exponent=127, sign=1)
@example(significand=2**52, exponent=-126, sign=1)
@given(significand=st.integers(2**52, 2**53 - 1), exponent=st.integers(-140, 140), sign=st.sampled_from((1, -1)))
def test_floats_alone(significand: int, exponent: int, sign: int) -> None:
    """Of a float's 53 bits, the significand of an fp32 holds the first 24."""
    value = sign * significand * 2.0 ** (exponent - 52)
    normal = (-126, 2**52) <= (exponent, significand) <= (127, 2**53 - 2**29)
    because = f"it is {'within' if normal else 'outside'} the range of fp32's normal numbers"
    calling(literal_dtype, value).returns(DTYPES["fp32" if normal else "fp64"], because)


@pytest.mark.parametrize("operator", "+%")
@pytest.mark.parametrize("fits", [True, False])
def test_numbers_beside_tensors(fits: bool, operator: str) -> None:
    for dtype, value in itertools.product(questions.DTYPES, questions.LITERALS):
        if records.literal_promotion(dtype, value).ok == fits:
            agrees(dtype, operator, value)


@given(dtype=st.sampled_from([*NARROW_FORMATS, *FORMATS]), value=integers)
def test_integers_beside_integer_tensors(dtype: str, value: int) -> None:
    call = calling(promote_literal, DTYPES[dtype], value)
    if holds((NARROW_FORMATS | FORMATS)[dtype], value):
        call.returns(DTYPES[dtype], because=f"{dtype} holds {value}")
    else:
        call.raises(ValueError, because=f"{dtype} cannot hold {value}")
