"""Task 0.3: if one operand is a scalar and the other one is a tile, the scalar is splat."""

import itertools

import numpy as np
from first.slice import Kernel, Op, Type
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import described
from tests.support.m00_first.judging import computed, printed, refusals

ELEMENTS = ("i32", "f32", "!tt.ptr<f32>", "i1")
SIZES = (8, 1024, 1)
OPERATORS = {"Add": "+", "Sub": "-", "Mult": "*"}


def kernel_of(left: Type, right: Type) -> tuple[Kernel, described]:
    """A kernel with two parameters, and the call of `alike` for them."""
    kernel = Kernel("kernel", left=left, right=right)
    left_op, right_op = kernel.names["left"], kernel.names["right"]
    return kernel, described(f"alike(<{left}>, <{right}>)", kernel.alike, left_op, right_op)


def test_a_scalar_becomes_a_tile() -> None:
    for size, element, other in itertools.product(SIZES, ELEMENTS, ELEMENTS):
        for types in ((Type(element), Type(other, size)), (Type(element, size), Type(other))):
            kernel, call = kernel_of(*types)
            got = call.succeeds("two tiles")
            if not isinstance(got, tuple) or not all(isinstance(op, Op) for op in got) or len(got) != 2:
                call.fail("a tuple of two operations", got)
            expected = f"{Type(element, size)}, {Type(other, size)}"
            if (types_got := ", ".join(str(op.type) for op in got)) != expected:
                call.fail(expected, types_got, because="the order and the element types stay")


def test_the_tile_stays_as_it_is() -> None:
    for scalar_first in (True, False):
        types = (Type("i32"), Type("i32", 8)) if scalar_first else (Type("i32", 8), Type("i32"))
        kernel, call = kernel_of(*types)
        got = call()
        scalar, tile = ("left", "right") if scalar_first else ("right", "left")
        if got[scalar_first] is not kernel.names[tile]:
            call.fail(f"the {tile} operand itself, unchanged", got[scalar_first].name)
        if [(op.name, op.operands) for op in kernel.ops] != [("tt.splat", (kernel.names[scalar],))]:
            call.fail("one operation, a tt.splat of the scalar", [op.name for op in kernel.ops])


def test_tiles_of_different_sizes() -> None:
    for left, right in ((8, 16), (1024, 8)):
        for element in ("i32", "!tt.ptr<f32>"):
            _, call = kernel_of(Type(element, left), Type("i32", right))
            try:
                got = call()
            except SyntaxError:
                continue
            types = [str(op.type) for op in got] if isinstance(got, tuple) else got
            call.fail("SyntaxError", types, because="real Triton also refuses tiles of different sizes")


@given(st.sampled_from(sorted(OPERATORS)), st.booleans(), st.integers(-9, 9))
def test_operators_on_a_scalar_and_a_tile(operator: str, scalar_first: bool, number: int) -> None:
    scalar, tile = (Type("i32"), np.int32(number)), (Type("i32", 8), np.arange(8, dtype=np.int32))
    (left, left_value), (right, right_value) = (scalar, tile) if scalar_first else (tile, scalar)
    kernel = Kernel("kernel", left=left, right=right)
    operands = kernel.names["left"], kernel.names["right"]
    call = described(f"operate({operator!r}, <{left}>, <{right}>)", kernel.operate, operator, *operands)
    result = call()
    got = computed(kernel, {"left": left_value, "right": right_value})[result]
    expected = eval(f"left {OPERATORS[operator]} right", {"left": left_value, "right": right_value})
    if not np.array_equal(got, expected):
        call.fail(f"{expected} for {left_value} and {right_value}", got)


def test_real_triton_accepts_the_operations() -> None:
    scalar, tile, pointer = Type("i32"), Type("i32", 8), Type("!tt.ptr<f32>")
    cases = [(operator, *types) for operator in (*OPERATORS, "Lt") for types in ((scalar, tile), (tile, scalar))]
    calls, compiled = [], []
    for operator, left, right in [*cases, ("Add", pointer, tile), ("Add", Type("!tt.ptr<f32>", 8), scalar)]:
        kernel = Kernel("kernel", left=left, right=right)
        operands = kernel.names["left"], kernel.names["right"]
        calls.append(described(f"operate({operator!r}, <{left}>, <{right}>)", kernel.operate, operator, *operands))
        calls[-1]()
        compiled.append(kernel)
    for call, kernel, refusal in zip(calls, compiled, refusals(compiled), strict=True):
        if refusal:
            call.fail("operations that real Triton accepts", f"{refusal}\n{printed(kernel)}")
