"""Task 3.2: numbers in the IR, as NumPy wraps them around and as real Triton reads them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.formats import FLOATS
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, OpResult
from mini_triton.ir.printer import print_module

from tests.checks import calling
from tests.oracles import triton
from tests.support.m03_builder.bench import module_around
from tests.support.type_names import of_shape

INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
SHAPES = ((), (8,), (1,), (4, 2))

shapes = st.sampled_from(SHAPES)


def constant(value: bool | int | float, type_name: str, shape: tuple[int, ...] = ()) -> OpResult:
    """A constant that the builder inserts into a new block. Everything except its value is checked."""
    builder, block = Builder(), Block()
    type = of_shape(shape, type_name)
    with builder.at_end(block):
        result = calling(builder.constant, value, type).succeeds(f"a constant of type {type}")
    assert [operation.name for operation in block.operations] == ["arith.constant"], (
        "one `arith.constant` is enough for a constant"
    )
    assert block.operations[0].results == (result,), "`constant` should return the operation's result"
    assert result.type == type, f"constant({value!r}, {type}) has type {result.type}"
    return result


def stored(value: bool | int | float, type_name: str, shape: tuple[int, ...] = ()) -> object:
    """The value that the IR stores."""
    return constant(value, type_name, shape).owner.attributes["value"]


def refuses(value: bool | int | float, type_name: str, shape: tuple[int, ...], error: type[Exception]) -> None:
    builder, block = Builder(), Block()
    with builder.at_end(block):
        calling(builder.constant, value, of_shape(shape, type_name)).raises(error)
    assert not block.operations, f"constant({value!r}, {type_name}) was refused, but left an operation behind"


def read(literal: str, type_name: str) -> triton.Answer:
    """Real Triton's constant for a literal."""
    function = f"tt.func private @kernel() -> {type_name}"
    constant = f"%0 = arith.constant {literal} : {type_name}"
    return triton.accepts(f"module {{\n{function} {{\n{constant}\ntt.return %0 : {type_name}\n}}\n}}\n")


def must_be_read_as(value: bool | int | float, type_name: str, literal: str) -> None:
    """Require that real Triton reads the builder's constant as it reads this literal."""
    result = constant(value, type_name)
    assert result.parent_block is not None
    ours = triton.accepts(print_module(module_around(result.parent_block, result, name="kernel")))
    expected = read(literal, type_name)
    assert ours and ours.text == expected.text, (
        f"real Triton reads constant({value!r}, {type_name}) as\n{ours.text or ours.diagnostic}\n"
        f"  expected\n{expected.text}"
    )


# --- integers


@pytest.mark.parametrize("type_name", INTEGERS)
def test_real_triton_reads_the_same_integers(type_name: str) -> None:
    """`arith.constant 255 : i8` is legal MLIR. The builder must treat 255 and 256 as real Triton does."""
    edges = [0, *(sign * 2 ** (INTEGERS[type_name] + more) for more in (-1, 0, 1) for sign in (1, -1))]
    for value in (edge + step for edge in edges for step in (-1, 0, 1)):
        if read(str(value), type_name):
            must_be_read_as(value, type_name, str(value))
        else:
            refuses(value, type_name, (), ValueError)


@given(
    value=st.integers(-500, 500) | st.integers(-(2**65), 2**65), type_name=st.sampled_from([*INTEGERS]), shape=shapes
)
def test_integers(value: int, type_name: str, shape: tuple[int, ...]) -> None:
    """An integer in range is stored as NumPy's signed integer of this width; other integers are refused."""
    width = INTEGERS[type_name]
    if not -(2 ** (width - 1)) <= value < 2**width:
        refuses(value, type_name, shape, ValueError)
        return
    expected = int(np.array(value % 2**width, f"uint{width}").astype(f"int{width}"))
    got = stored(value, type_name, shape)
    assert got == expected and type(got) is int, (
        f"{value} in an {type_name} is stored as {got!r}\n  expected  {expected}\n"
        f"  because   np.array({value % 2**width}, 'uint{width}').astype('int{width}') is {expected}"
    )


def test_booleans() -> None:
    for shape in SHAPES:
        for value in (False, True, 0, 1):
            got = stored(value, "i1", shape)
            assert got is bool(value), (
                f"{value!r} in an i1 is stored as {got!r}\n  expected  {bool(value)}\n"
                "  because   MLIR's only constants of i1 are true and false"
            )
        for value in (2, -1, 255, -128):
            refuses(value, "i1", shape, ValueError)
        for type_name in INTEGERS:
            for flag in (False, True):
                got = stored(flag, type_name, shape)
                assert got == int(flag) and type(got) is int, f"{flag} in an {type_name} is stored as {got!r}"


# --- floats


@given(value=st.floats() | st.integers(-1000, 1000) | st.booleans(), type_name=st.sampled_from([*FLOATS]), shape=shapes)
def test_floats(value: float, type_name: str, shape: tuple[int, ...]) -> None:
    """A constant of a float type stores the number as a Python float, including the sign of a zero."""
    if FLOATS[type_name].infinity is None and math.isinf(value):
        value = math.nan  # this type has no infinity
    got = stored(value, type_name, shape)
    assert type(got) is float and repr(got) == repr(float(value)), (
        f"{value!r} in an {type_name} is stored as {got!r}, not as {float(value)!r}"
    )


@given(
    value=st.floats(width=16) | st.sampled_from([0.1, -0.0, math.inf, -math.inf, math.nan, 1e-5, 65504.0, 1 / 3]),
    type_name=st.sampled_from(["f16", "f32", "f64"]),
)
def test_real_triton_reads_the_same_floats(value: float, type_name: str) -> None:
    """Real Triton reads the bits of NumPy's number."""
    width = int(type_name[1:])
    if math.isnan(value):
        value = math.nan  # other NaNs have other bits
    bits = int(np.array(value, f"float{width}").view(f"uint{width}"))
    must_be_read_as(value, type_name, f"0x{bits:0{width // 4}X}")


# --- values that are not constants


@given(
    value=st.floats() | st.integers(-100, 100).map(float),
    type_name=st.sampled_from([*INTEGERS, "i1"]),
    shape=shapes,
)
def test_no_float_in_an_integer_type(value: float, type_name: str, shape: tuple[int, ...]) -> None:
    """Even a whole number is refused, because the caller decides about rounding."""
    refuses(value, type_name, shape, TypeError)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_constant_pointer(shape: tuple[int, ...]) -> None:
    for value in (0, 16, 0.0, False):
        refuses(value, "!tt.ptr<f32>", shape, TypeError)
