"""Task 4.2: pointer arithmetic, bitwise operators, signs and comparisons, as in real Triton."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.oracles import questions
from tests.support.m04_language.arguments import (
    ALIKE,
    COMPARISONS,
    DTYPES,
    POINTERS,
    Shape,
    alike_with_number,
    of_each,
    pairs,
    typed,
    written,
)
from tests.support.m04_language.expression_values import number, values
from tests.support.m04_language.expressions import Scene, judge

SUMS = ("+", "-")
BITWISE = ("&", "|", "^", "<<", ">>")
OPERATORS = SUMS + BITWISE + COMPARISONS
LITERALS = tuple(value for value in questions.LITERALS if not math.isnan(value))  # its printed form may differ
SOME = one_in(3)  # each has many expressions


@pytest.mark.parametrize("operator", OPERATORS)
def test_two_tensors(operator: str) -> None:
    """Every dtype meets itself and some others; the result and its operations, or the refusal, are real Triton's."""
    values = {f"s_{dtype}": dtype for dtype in DTYPES} | {f"x_{dtype}": f"{dtype}[4]" for dtype in DTYPES}
    judge(values, [f"s_{a} {operator} x_{b}" for a, b in pairs(operator, OPERATORS.index(operator))])


@SOME
@given(dtype=st.sampled_from(DTYPES), value=st.sampled_from(LITERALS), shape=st.sampled_from(ALIKE))
def test_a_tensor_and_a_number(dtype: str, value: bool | int | float, shape: Shape) -> None:
    """On either side, the number is weak in arithmetic, but not in comparisons."""
    operators = [operator for operator in OPERATORS if alike_with_number(dtype, value, operator)]
    expressions = [f"x {operator} {written(value)}" for operator in operators]
    expressions += [f"{written(value)} {operator} x" for operator in operators if operator not in COMPARISONS]
    judge({"x": typed(dtype, shape)}, expressions)


def test_numbers() -> None:
    """Python calls the tensor's method: `1 < x` is `x > 1`. Two numbers in a function become two tensors."""
    arguments = {"i": "i32[4]", "u": "u32[4]", "f": "fp32[4]"}
    judge(arguments, [f"{n} {operator} {x}" for x in arguments for n in "13" for operator in COMPARISONS])
    judge({}, ["tl.add(2, 3)", "tl.sub(2, 2**40)", "tl.add(2, 1.5)", "tl.sub(True, 2**40)"])


@pytest.mark.parametrize(("expression", "compared"), [("x < 1", "i32"), ("h == 1.5", "f32"), ("1 >= x", "i32")])
def test_numbers_are_not_weak_in_comparisons(expression: str, compared: str) -> None:
    """A number keeps its own dtype, to which the narrower tensor is converted, as in older versions of Triton."""
    scene = Scene({"x": "i8", "h": "fp16"})
    (got,) = re.findall(r"arith\.cmp[if] .* : (\S+)", scene.outcomes([expression])[1])
    if got != compared:
        scene.fail(expression, f"a comparison in {compared}", f"a comparison in {got}", "numbers are not weak here")


@SOME
@given(
    pointer=st.sampled_from(POINTERS),
    other=st.sampled_from((*DTYPES, *POINTERS)),
    shapes=st.tuples(*[st.sampled_from(ALIKE)] * 2),
)
def test_pointers(pointer: str, other: str, shapes: tuple[Shape, Shape]) -> None:
    """A pointer moves by integers of any dtype. All other operators refuse pointers."""
    expressions = ["p + y", "y + p", "p - y", "y - p", "p & y", "p << y", "p == y", "y < p"]
    judge({"p": typed(pointer, shapes[0]), "y": typed(other, shapes[1])}, expressions)


def test_pointers_and_numbers() -> None:
    """A number is an offset of its own dtype, so a large one is 64 bits wide."""
    for type in ("*fp32", "*i8[4]"):
        offsets = ("1", "-1", "0", "True", "2**31", "2**40", "-(2**40)", "2**63", "1.5", "0.0")
        expressions = [f"{x} {op} {y}" for n in offsets for op in SUMS for x, y in (("p", n), (n, "p"))]
        judge({"p": type}, [*expressions, "p + 1 + 2 - 3", "2 & p", "p == 0", "0 != p"])


@pytest.mark.parametrize("shape", [(), (2, 4)])
def test_unary(shape: Shape) -> None:
    """-x, ~x, -(-x) and ~(~x) for operands of every kind."""
    arguments = of_each((*DTYPES, *POINTERS), shape)
    judge(arguments, [f"{operator}{name}" for operator in ("-", "~", "- -", "~~") for name in arguments])


REFUSED: dict[str, tuple[str, ...]] = {
    "p + q": ("cannot add pointers together",),
    "p - q": ("pointer<fp32> and pointer<fp32>",),
    "n - p": ("int32", "pointer<fp32>"),
    "1 - p": ("int32", "pointer<fp32>"),
    "p + r": ("pointer<fp32>", "pointer<fp16>"),
    "n & p": ("int32", "pointer<fp32>"),
    "p + x": ("pointer<fp32>", "fp32"),
    "p + 1.5": ("pointer<fp32>", "fp32"),
    "p == q": ("pointer<fp32>",),
    "x & n": ("invalid operands of type fp32 and fp32",),
    "n ^ 1.5": ("invalid operands of type fp32 and fp32",),
    "-p": ("wrong type argument to unary minus",),
    "~x": ("wrong type argument to unary invert",),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """The error is a TypeError that names the dtypes, or has the message that the stub gives."""
    scene = Scene({"p": "*fp32", "q": "*fp32", "r": "*fp16", "n": "i32", "x": "fp32"})
    scene.refuses(expression, TypeError, *REFUSED[expression])


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
def test_negation_is_exact(dtype: str) -> None:
    """-x is exact for all floats: -(0.0) is -0.0. Real Triton's canonicalizer folds the operations."""
    for x in (0.0, -0.0, 1.5):
        ((_, got),) = values({"x": dtype}, ["-x"], {"x": x})
        assert repr(number(got)) == repr(-x), (
            f"-x of {x} as {dtype}\n  expected  {-x}\n  got       {got}\n  because   only -0.0 - x gives the right sign"
        )
