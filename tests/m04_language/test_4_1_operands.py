"""Task 4.1: the operands of `*`, `/`, `//` and `%` are converted to one dtype and one shape, as in real Triton."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.language.context import current
from mini_triton.language.dtypes import float32, int8, int32, pointer_type
from mini_triton.language.tensor import convert, tensor, unify
from mini_triton.language.tracing import trace

from tests.checks import calling, one_in
from tests.oracles import questions, triton
from tests.support.m04_language.arguments import (
    ALIKE,
    DTYPES,
    POINTERS,
    Shape,
    alike_with_number,
    pairs,
    typed,
    written,
)
from tests.support.m04_language.expressions import Scene, judge

OPERATORS = ("*", "/", "//", "%")
LITERALS = tuple(value for value in questions.LITERALS if not math.isnan(value))  # its printed form may differ
SHAPES = tuple(shape for shape in questions.SHAPES if len(shape) < 3) + ((1, 2, 4), (2, 1, 1), (4, 2, 4))
CASTS = re.compile(r"arith\.(\w+) %\S+ : (\S+) to (\S+)")


def test_products() -> None:
    """`x * y` with two dtypes, with two shapes, and with numbers."""
    values = {"x": "i8[4]", "y": "fp32[2, 1]", "h": "fp16[4]", "n": "i32", "p": "*fp32"}
    judge(values, ["n * n", "x * n", "h * n", "y * x", "h * 1.5", "2 * n", "x * 0.5", "x * 300", "p * n"])


def test_two_numbers() -> None:
    """Two numbers that are arguments of a function become two tensors, each of its own dtype."""
    judge({"N": "=3"}, ["tl.mul(2, 3)", "tl.mul(2, 1.5)", "tl.mul(2, 2**40)", "tl.mul(2**40, True)", "tl.mul(N, 0.5)"])


@pytest.mark.parametrize("operator", OPERATORS)
def test_two_tensors(operator: str) -> None:
    """Every dtype meets itself and some others; the result and its operations, or the refusal, are real Triton's."""
    values = {f"s_{dtype}": dtype for dtype in DTYPES} | {f"x_{dtype}": f"{dtype}[4]" for dtype in DTYPES}
    judge(values, [f"s_{a} {operator} x_{b}" for a, b in pairs(operator, OPERATORS.index(operator))])


@one_in(2)
@given(dtype=st.sampled_from(DTYPES), value=st.sampled_from(LITERALS), shape=st.sampled_from(ALIKE))
def test_a_tensor_and_a_number(dtype: str, value: bool | int | float, shape: Shape) -> None:
    """The number is weak as the left or the right operand."""
    alike = [operator for operator in OPERATORS if alike_with_number(dtype, value, operator)]
    pairs = ((f"x {operator} {written(value)}", f"{written(value)} {operator} x") for operator in alike)
    judge({"x": typed(dtype, shape)}, [expression for pair in pairs for expression in pair])


@one_in(2)
@given(a=st.sampled_from(SHAPES), b=st.sampled_from(SHAPES), dtype=st.sampled_from(("i32", "fp32", "u8")))
def test_shapes(a: Shape, b: Shape, dtype: str) -> None:
    """Operands are broadcast as in NumPy, and refused where NumPy refuses."""
    judge({"x": typed(dtype, a), "y": typed("i32", b)}, ["x * y", "y % x"])


def test_conversions_come_first() -> None:
    """A scalar is converted before it is broadcast: one conversion instead of one for each element."""
    scene, expressions = Scene({"s": "i8", "r": "fp16[1]", "x": "fp32[4]"}), ["s * x", "x / s", "r * x"]
    got = sorted(CASTS.findall(scene.outcomes(expressions)[1]))
    (made,) = triton.frontends([scene.source(expressions)], steps=True)
    expected = sorted(CASTS.findall(made.raw))
    if got != expected:
        because = "these are the conversions in real Triton, with their shapes"
        scene.fail("; ".join(expressions), _in_words(expected), _in_words(got), because)


def _in_words(casts: list[tuple[str, str, str]]) -> str:
    return "; ".join(f"{name} from {source} to {target}" for name, source, target in casts)


@pytest.mark.parametrize(("offset", "shape"), [("n", ()), ("x", (4,)), ("3", ())])
def test_pointers_are_not_promoted(offset: str, shape: Shape) -> None:
    """`unify(..., pointers=True)` broadcasts shapes, but keeps both dtypes; a number keeps its own dtype."""

    def kernel(p: tensor, n: tensor) -> None:
        other = {"n": n, "x": tensor(current().broadcast_to(n.handle, (4,)), n.dtype), "3": 3}[offset]
        expected = [(pointer_type(float32), shape), (int32 if offset == "3" else int8, shape)]
        for pair in ((p, other), (other, p)):
            call = calling(unify, *pair, pointers=True)
            got = [(x.dtype, x.shape) for x in call.succeeds()]
            assert got == expected, f"{call}\n  expected  {expected}\n  got       {got}"
            expected.reverse()

    trace(kernel, {"p": "*fp32", "n": "i8"})


def test_nothing_to_convert() -> None:
    """`convert` returns `x` itself only if `x` already has the dtype."""

    def kernel(x: tensor) -> None:
        got = calling(convert, x, float32).succeeds()
        assert got is x, f"convert of an fp32 to fp32 returned a new tensor, {got!r}; expected `x` itself"

    trace(kernel, {"x": "fp32"})


@pytest.mark.parametrize("pointer", POINTERS)
def test_pointers_are_refused(pointer: str) -> None:
    """A pointer cannot be multiplied."""
    both = [pair for other in ("n", "x", "q", "2", "0.5") for pair in (("p", other), (other, "p"))]
    values = {"p": pointer, "n": "i64", "x": "fp32[4]", "q": "*fp32[4]"}
    judge(values, [f"{x} {operator} {y}" for operator in ("*", "//") for x, y in both])


REFUSED: dict[str, tuple[str, ...]] = {
    "p * n": ("pointer<fp32>", "int32"),
    "2 % p": ("pointer<fp32>",),
    "n // p": ("int32", "pointer<fp32>"),
    "p / x": ("pointer<fp32>", "fp32"),
    "x // 2": ("unexpected type fp32",),
    "n % u": ("int32", "uint8"),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """The error is a TypeError that names the dtypes, or has the message that the stub gives."""
    Scene({"p": "*fp32", "n": "i32", "u": "u8", "x": "fp32"}).refuses(expression, TypeError, *REFUSED[expression])
