"""Task 4.7: functions of floats, minimum and maximum, choices between two values, as in real Triton.

Triton's versions treat bf16 and fp8 differently in some of these functions. The tests check only where they agree.
"""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.arguments import ALIKE, DTYPES, INTEGERS, Shape, of_each, typed
from tests.support.m04_language.expressions import Scene, judge

PLAIN = (*INTEGERS, "fp16", "fp32", "fp64")
WIDE = ("i32", "i64", "u32", "u64", "fp32", "fp64")
UNARY = "exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil".split()

shapes = st.sampled_from(ALIKE)


@pytest.mark.parametrize("function", UNARY)
def test_functions_of_floats(function: str) -> None:
    """Each is called as a function and as a method. A number becomes a tensor of its own dtype."""
    calls = ("tl.{}(x)", "tl.math.{}(s)", "x.{}()", "tl.{}(2.5)", "tl.{}(1e300)", "tl.{}(N)", "tl.{}(h)", "tl.{}(2)")
    judge({"x": "fp32[2, 4]", "s": "fp32", "h": "fp16[4]", "N": "=2.0"}, [call.format(function) for call in calls])


@pytest.mark.parametrize("function", ["exp", "sqrt_rn"])
def test_dtypes_of_functions_of_floats(function: str) -> None:
    """Each function takes fp32 and fp64, or only fp32, and refuses other dtypes."""
    values = of_each((*DTYPES, "*fp32"), (4,))
    judge(values, [f"tl.{function}({name})" for name in values])


FLOATS = ("fp16", "fp32", "fp64")
ORDERED = (*PLAIN, "*fp32")
MULTIPLIED = ("i8", "i32", "u32", *FLOATS)
SEVERAL: dict[tuple[str, ...], Sequence[Sequence[str]]] = {
    ("tl.div_rn(x, y)", "tl.umulhi(x, y)"): [DTYPES, DTYPES],
    ("tl.minimum(x, y)", "tl.maximum(x, y)", "tl.maximum(x, y, tl.PropagateNan.ALL)"): [ORDERED, ORDERED],
    ("tl.clamp(x, y, z)", "tl.clamp(x, min=y, max=z, propagate_nan=tl.PropagateNan.ALL)"): [FLOATS, FLOATS, FLOATS],
    ("tl.fma(x, y, x)", "tl.fma(x, x, y)", "tl.fma(y, x, x)"): [MULTIPLIED, MULTIPLIED],
    ("tl.where(x, y, z)",): [DTYPES, PLAIN, PLAIN],
}
"""Functions, and the dtypes that their operands may have."""


@pytest.mark.parametrize("calls", SEVERAL)
@given(data=st.data())
@one_in(3)
def test_functions_of_several(calls: tuple[str, ...], data: st.DataObject) -> None:
    """Operands of any two dtypes and shapes are promoted and broadcast, or refused."""
    values = {
        name: typed(data.draw(st.sampled_from(dtypes), f"dtype of {name}"), data.draw(shapes, f"shape of {name}"))
        for name, dtypes in zip("xyz", SEVERAL[calls], strict=False)
    }
    judge(values, calls)


def test_functions_of_two_wide_numbers() -> None:
    """`umulhi` gets all pairs of the dtypes that it accepts, and numbers."""
    pairs = itertools.product(("i32", "i64", "u32", "u64"), repeat=2)
    judge(of_each(WIDE, (4,)), [f"tl.umulhi(x_{x}, x_{y})" for x, y in pairs])
    judge({"x": "fp32[4]", "n": "i32", "u": "u32"}, ["tl.div_rn(x, 2.5)", "tl.div_rn(1, x)", "tl.div_rn(x, n)"])
    numbers = ("x, 5", "5, u", "x, 2**40", "x, 0.5", "u, True")
    judge({"x": "i64[4]", "u": "u32"}, [f"tl.umulhi({pair})" for pair in numbers])


@pytest.mark.parametrize("shape", ALIKE)
def test_absolute_value(shape: Shape) -> None:
    """The absolute value of floats and signed integers is computed; an unsigned integer stays as it is."""
    values = of_each((*DTYPES, "*fp32"), shape)
    judge(values, [f"tl.abs({name})" for name in values])
    judge({"x": "i8[4]"}, ["x.abs()", "tl.math.abs(x)", "tl.abs(-3)", "tl.abs(-2.5)", "tl.abs(-3) * x"])


def test_minimum_and_maximum() -> None:
    """`propagate_nan` is given by keyword or by position; the other operand may be a number."""
    values = {"x": "fp32[4]", "n": "i32", "N": "=3"}
    for function in ("tl.minimum", "tl.maximum"):
        calls = ["(x, x, tl.PropagateNan.NONE)", "(x, 1.0, tl.PropagateNan.ALL)", "(n, 1, tl.PropagateNan.ALL)"]
        calls += ["(x, x, propagate_nan=1)", "(n, n, propagate_nan=1)", "(x, N)", "(1, 2)"]
        judge(values, [f"{function}{call}" for call in calls])
    # A number keeps its own dtype here. It is weak from Triton 3.9 on, so only pairs with the same result are compared.
    numbers = {"i32": ("0", "-7", "2.5"), "i64": ("-1", "2**40"), "fp32": ("1.5", "2", "-0.0"), "u32": ("7",)}
    for dtype, few in numbers.items():
        pairs = [pair for value in few for pair in (f"x, {value}", f"{value}, x")]
        judge({"x": typed(dtype, (4,))}, [f"tl.{f}({pair})" for f in ("minimum", "maximum") for pair in pairs])


def test_clamp_and_fma() -> None:
    """Numbers become tensors of fp32 or fp64, and integers are promoted. GPUs have an fma instruction for bf16."""
    judge({"x": "fp32[4]", "n": "i32"}, ["tl.clamp(x, 0.0, 1.0)", "tl.clamp(x, -1, 1)", "tl.clamp(n, 0.0, x)"])
    judge({"x": "fp64[4]", "p": "*fp32"}, ["tl.clamp(x, 0.0, 1e300)", "tl.clamp(p, 0.0, 1.0)", "tl.clamp(x, p, p)"])

    judge({"b": "bf16[4]", "x": "fp32"}, ["tl.fma(b, b, b)", "tl.fma(b, x, b)", "tl.fma(x, 2.0, 1)"])


@pytest.mark.parametrize("function", ["clamp", "fma"])
def test_order_of_promotions(function: str) -> None:
    """The order decides whether the integer is first rounded to fp16."""
    orders = itertools.permutations(("n", "h", "x"))
    judge({"n": "i32", "h": "fp16", "x": "fp32[4]"}, [f"tl.{function}({', '.join(order)})" for order in orders])


BF16, NUMBER = "bf16 first becomes fp32", "the number first becomes an fp32"
WIDENED = {
    **dict.fromkeys(("tl.maximum(b, b)", "tl.maximum(b, h)", "tl.minimum(h, b)"), BF16),
    **dict.fromkeys(("tl.clamp(b, 0, 1)", "tl.clamp(h, 0, b)", "tl.clamp(h, b, 1)"), BF16),
    **dict.fromkeys(("tl.maximum(h, 2.0)", "tl.minimum(2.0, h)", "tl.clamp(h, 0.0, 1)", "tl.clamp(h, 0, 1.0)"), NUMBER),
    **dict.fromkeys(("tl.fma(h, h, 1.0)", "tl.fma(h, 1.0, h)", "tl.fma(1.0, h, h)"), NUMBER),
}


def test_operands_that_become_fp32() -> None:
    """bf16 becomes fp32 before promotion, and a float number is an fp32. Triton's versions differ in both."""
    scene = Scene({"b": "bf16[4]", "h": "fp16[4]"})
    for (call, because), got in zip(WIDENED.items(), scene.outcomes([*WIDENED])[0], strict=True):
        if got != "f32[4]":
            scene.fail(call, "f32[4]", got, because)
    Scene({"x": "fp32", "n": "i32", "b": "bf16"}).builds_alike("tl.clamp(x, n, b)", "tl.clamp(x, n, b.to(tl.float32))")


@given(dtype=st.sampled_from((*PLAIN, "bf16")), shapes=st.tuples(shapes, shapes))
@one_in(3)
def test_where_with_numbers(dtype: str, shapes: tuple[Shape, Shape]) -> None:
    """In `where`, unlike in `maximum`, numbers are weak."""
    pairs = ("x, 0", "-1, x", "x, 1.5", "True, x", "300, x", "1, 2.5", "1, 2**40", "2**40, 1")
    judge({"c": typed("i1", shapes[0]), "x": typed(dtype, shapes[1])}, [f"tl.where(c, {pair})" for pair in pairs])


def test_where_with_pointers() -> None:
    """`where` chooses between two pointers of one type, and refuses a pointer with any other value."""
    values = {"c": "i1[4]", "p": "*fp32[4]", "q": "*fp32", "r": "*fp16[4]", "n": "i64", "x": "fp32"}
    pairs = ("p, p", "p, q", "q, q", "p, r", "p, n", "n, p", "p, x", "p, 0", "p, 0.0")
    judge(values, [*(f"tl.where(c, {pair})" for pair in pairs), "tl.where(q, x, 0)", "tl.where(False, x, n)"])


# --- refusals

REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    "tl.exp(h)": (ValueError, ("Expected dtype ['fp32', 'fp64'] but got fp16",)),
    "tl.sqrt_rn(d)": (ValueError, ("Expected dtype ['fp32'] but got fp64",)),
    "tl.div_rn(n, x)": (ValueError, ("int32",)),
    "tl.abs(p)": (TypeError, ("pointer<fp32>",)),
    "tl.maximum(p, p)": (TypeError, ("pointer<fp32>",)),
    "tl.minimum(x, x, propagate_nan=1)": (ValueError, ("propagate_nan",)),
    "tl.clamp(x, 0.0, 1.0, propagate_nan=1)": (ValueError, ("propagate_nan",)),
    "tl.clamp(n, 0, 1)": (TypeError, ("int32",)),
    "tl.fma(n, n, n)": (TypeError, ("int32",)),
    "tl.fma(m, m, m)": (TypeError, ("int1",)),
    "tl.where(m, p, n)": (TypeError, ("pointer<fp32>", "int32")),
    "tl.where(m, p, x)": (TypeError, ("pointer<fp32>", "fp32")),
    "tl.where(m, j, 300)": (ValueError, ("300", "int8")),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """The error has the expected class, and names the wrong dtype, number or axis."""
    error, names = REFUSED[expression]
    values = {"x": "fp32[4]", "h": "fp16", "d": "fp64", "n": "i32", "j": "i8", "m": "i1", "p": "*fp32"}
    Scene(values).refuses(expression, error, *names)
