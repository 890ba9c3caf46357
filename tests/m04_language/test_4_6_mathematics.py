"""Task 4.6: mathematics, choices between two values, reductions and scans, as real Triton does them.

Its versions treat bf16 and fp8 differently in some of these functions. There only what they have in common is asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.m04_language.expressions import Scene, judge
from tests.support.type_names import SIGNATURES as DTYPES

Shape = tuple[int, ...]

INTEGERS = tuple(dtype for dtype in DTYPES if dtype[0] in "iu")
PLAIN = (*INTEGERS, "fp16", "fp32", "fp64")
WIDE = ("i32", "i64", "u32", "u64", "fp32", "fp64")
ALIKE: tuple[Shape, ...] = ((), (4,), (4, 1), (2, 4))  # these fit each other
UNARY = "exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil".split()

shapes = st.sampled_from(ALIKE)
blocks = st.sampled_from(((4,), (1,), (2, 4), (4, 1), (4, 2, 8), (1, 2, 1)))
axes = st.integers(-4, 3)


def spelled(dtype: str, shape: Shape) -> str:
    """`i8[4, 1]`"""
    return f"{dtype}{list(shape)}" if shape else dtype


def of(dtypes: Iterable[str], shape: Shape) -> dict[str, str]:
    """A value of each dtype: `x_i8` and so on."""
    return {f"x_{dtype.replace('*', 'p_')}": spelled(dtype, shape) for dtype in dtypes}


# --- element by element


@pytest.mark.parametrize("function", UNARY)
def test_functions_of_floats(function: str) -> None:
    """All of them, as functions and as methods; a number is one of its own dtype."""
    calls = ("tl.{}(x)", "tl.math.{}(s)", "x.{}()", "tl.{}(2.5)", "tl.{}(1e300)", "tl.{}(N)", "tl.{}(h)", "tl.{}(2)")
    judge({"x": "fp32[2, 4]", "s": "fp32", "h": "fp16[4]", "N": "=2.0"}, [call.format(function) for call in calls])


@pytest.mark.parametrize("function", ["exp", "sqrt_rn"])
def test_dtypes_of_functions_of_floats(function: str) -> None:
    """They take fp32 and fp64, or fp32 alone, and refuse all others."""
    values = of((*DTYPES, "*fp32"), (4,))
    judge(values, [f"tl.{function}({name})" for name in values])


@given(x=st.sampled_from(DTYPES), y=st.sampled_from(DTYPES), shapes=st.tuples(shapes, shapes))
@settings(max_examples=40)
def test_functions_of_two(x: str, y: str, shapes: tuple[Shape, Shape]) -> None:
    """Both operands must have an accepted dtype before they are promoted."""
    judge({"x": spelled(x, shapes[0]), "y": spelled(y, shapes[1])}, ["tl.div_rn(x, y)", "tl.umulhi(x, y)"])


def test_functions_of_two_wide_numbers() -> None:
    """All pairs of the dtypes that one of them accepts, and numbers."""
    pairs = itertools.product(("i32", "i64", "u32", "u64"), repeat=2)
    judge(of(WIDE, (4,)), [f"tl.umulhi(x_{x}, x_{y})" for x, y in pairs])
    judge({"x": "fp32[4]", "n": "i32", "u": "u32"}, ["tl.div_rn(x, 2.5)", "tl.div_rn(1, x)", "tl.div_rn(x, n)"])
    numbers = ("x, 5", "5, u", "x, 2**40", "x, 0.5", "u, True")
    judge({"x": "i64[4]", "u": "u32"}, [f"tl.umulhi({pair})" for pair in numbers])


@pytest.mark.parametrize("shape", ALIKE)
def test_absolute_value(shape: Shape) -> None:
    """Floats and signed integers have one; an unsigned integer stays as it is."""
    values = of((*DTYPES, "*fp32"), shape)
    judge(values, [f"tl.abs({name})" for name in values])
    judge({"x": "i8[4]"}, ["x.abs()", "tl.math.abs(x)", "tl.abs(-3)", "tl.abs(-2.5)"])


@given(x=st.sampled_from((*PLAIN, "*fp32")), y=st.sampled_from((*PLAIN, "*fp32")), shapes=st.tuples(shapes, shapes))
@settings(max_examples=50)
def test_minimum_and_maximum(x: str, y: str, shapes: tuple[Shape, Shape]) -> None:
    """Of every two dtypes and shapes; the result is of the dtype that an operator would have."""
    ways = ("tl.minimum(x, y)", "tl.maximum(x, y)", "tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)")
    judge({"x": spelled(x, shapes[0]), "y": spelled(y, shapes[1])}, ways)


def test_how_nan_is_treated() -> None:
    """Said by name or by place, with a number beside it."""
    values = {"x": "fp32[4]", "n": "i32", "N": "=3"}
    for function in ("tl.minimum", "tl.maximum"):
        calls = ["(x, x, tl.PropagateNan.NONE)", "(x, 1.0, tl.PropagateNan.ALL)", "(n, 1, tl.PropagateNan.ALL)"]
        calls += ["(x, x, propagate_nan=1)", "(n, n, propagate_nan=1)", "(x, N)", "(1, 2)"]
        judge(values, [f"{function}{call}" for call in calls])


def test_minimum_and_maximum_of_numbers() -> None:
    """A number is as strong as a tensor. Since 3.9 it is weak in Triton: so only where both come to the same dtype."""
    numbers = {"i32": ("0", "-7", "2.5"), "i64": ("-1", "2**40"), "fp32": ("1.5", "2", "-0.0"), "u32": ("7",)}
    for dtype, values in numbers.items():
        pairs = [pair for value in values for pair in (f"x, {value}", f"{value}, x")]
        judge({"x": spelled(dtype, (4,))}, [f"tl.{f}({pair})" for f in ("minimum", "maximum") for pair in pairs])


floats = st.sampled_from(("fp16", "fp32", "fp64"))


@given(dtypes=st.tuples(floats, floats, floats), shapes=st.tuples(shapes, shapes, shapes))
@settings(max_examples=40)
def test_clamp(dtypes: tuple[str, str, str], shapes: tuple[Shape, Shape, Shape]) -> None:
    """Three floats of any dtypes and shapes."""
    values = {name: spelled(dtype, shape) for name, dtype, shape in zip("xlh", dtypes, shapes, strict=True)}
    judge(values, ["tl.clamp(x, l, h)", "tl.clamp(x, min=l, max=h, propagate_nan=tl.PropagateNan.ALL)"])


def test_clamp_between_numbers() -> None:
    """Numbers are fp32 or fp64 tensors, and integers among the three are promoted."""
    judge({"x": "fp32[4]", "n": "i32"}, ["tl.clamp(x, 0.0, 1.0)", "tl.clamp(x, -1, 1)", "tl.clamp(n, 0.0, x)"])
    judge({"x": "fp64[4]", "p": "*fp32"}, ["tl.clamp(x, 0.0, 1e300)", "tl.clamp(p, 0.0, 1.0)", "tl.clamp(x, p, p)"])


multiplied = st.sampled_from(("i8", "i32", "u32", "fp16", "fp32", "fp64"))


@given(dtypes=st.tuples(multiplied, multiplied), shapes=st.tuples(shapes, shapes, shapes))
@settings(max_examples=40)
def test_fused_multiply_add(dtypes: tuple[str, str], shapes: tuple[Shape, Shape, Shape]) -> None:
    """Integers are promoted by a float beside them, and refused without."""
    drawn = zip("xyz", (*dtypes, dtypes[0]), shapes, strict=True)
    values = {name: spelled(dtype, shape) for name, dtype, shape in drawn}
    judge(values, ["tl.fma(x, y, z)", "tl.fma(x, z, y)", "tl.fma(y, x, z)"])


def test_fused_multiply_add_keeps_bf16() -> None:
    """bf16 has an instruction for it."""
    judge({"b": "bf16[4]", "x": "fp32"}, ["tl.fma(b, b, b)", "tl.fma(b, x, b)", "tl.fma(x, 2.0, 1)"])


@given(
    condition=st.sampled_from(DTYPES),
    x=st.sampled_from(PLAIN),
    y=st.sampled_from(PLAIN),
    shapes=st.tuples(shapes, shapes, shapes),
)
@settings(max_examples=50)
def test_where(condition: str, x: str, y: str, shapes: tuple[Shape, Shape, Shape]) -> None:
    """A condition of any dtype, values of any two, and all three in any shape."""
    values = {"c": spelled(condition, shapes[0]), "x": spelled(x, shapes[1]), "y": spelled(y, shapes[2])}
    judge({**values, "b": "i1"}, ["tl.where(c, x, y)", "tl.where(b, y, x)"])


@given(dtype=st.sampled_from((*PLAIN, "bf16")), shapes=st.tuples(shapes, shapes))
@settings(max_examples=30)
def test_where_with_numbers(dtype: str, shapes: tuple[Shape, Shape]) -> None:
    """Unlike in `maximum`, numbers are weak."""
    pairs = ("x, 0", "-1, x", "x, 1.5", "True, x", "300, x", "1, 2.5", "1, 2**40", "2**40, 1")
    judge({"c": spelled("i1", shapes[0]), "x": spelled(dtype, shapes[1])}, [f"tl.where(c, {pair})" for pair in pairs])


def test_where_with_pointers() -> None:
    """A choice between two pointers to the same; nothing else goes with one."""
    values = {"c": "i1[4]", "p": "*fp32[4]", "q": "*fp32", "r": "*fp16[4]", "n": "i64", "x": "fp32"}
    pairs = ("p, p", "p, q", "q, q", "p, r", "p, n", "n, p", "p, x", "p, 0", "p, 0.0")
    judge(values, [*(f"tl.where(c, {pair})" for pair in pairs), "tl.where(q, x, 0)", "tl.where(True, x, n)"])


# --- reductions

COMBINE = {
    "larger": "(a, b): return tl.maximum(a, b)",
    "last": "(a, b): return b",
    "both": "(a, i, b, j): return a + b, i * j",
    "crossed": "(a, i, b, j): return a - j, b - i",
    "three": "(a, b, c, d, e, f): return a + d, tl.where(b > e, c, f), c * f",
    "compared": "(a, b): return a > b",
    "widened": "(a, b): return a * 1.5 + b",
}


def written(*functions: str) -> str:
    """The source of these combine functions."""
    return "\n".join(f"@triton.jit\ndef {function}{COMBINE[function]}" for function in functions)


@given(dtype=st.sampled_from(DTYPES), shape=blocks, axis=axes | st.none(), keep=st.booleans())
@settings(max_examples=30)
def test_reduce_one_tensor(dtype: str, shape: Shape, axis: int | None, keep: bool) -> None:
    """With a function of the kernel's own, which must return what it takes."""
    functions = ("last", "compared", *(("larger", "widened") if dtype in PLAIN else ()))
    expressions = [f"tl.reduce(x, {axis}, {function}, keep_dims={keep})" for function in functions]
    judge({"x": spelled(dtype, shape)}, expressions, helpers=written(*functions))


@given(dtypes=st.tuples(*[st.sampled_from(WIDE)] * 3), shape=blocks, axis=axes | st.none(), keep=st.booleans())
@settings(max_examples=20)
def test_reduce_several_tensors(dtypes: tuple[str, str, str], shape: Shape, axis: int | None, keep: bool) -> None:
    """In step: all values of one element come before those of the other."""
    values = {name: spelled(dtype, shape) for name, dtype in zip("xyz", dtypes, strict=True)}
    two = [f"tl.reduce((x, y), {axis}, {f}, {keep})[{i}]" for f in ("both", "crossed") for i in (0, 1)]
    three = f"tl.reduce((x, z, x), {axis}, three, {keep})"
    judge(values, [*two, f"{three}[1]", f"{three}[2]"], helpers=written("both", "crossed", "three"))


def test_reduce_as_a_method_and_refusals() -> None:
    """A tuple of one is a tuple; sources and results have to agree."""
    values = {"x": "fp32[2, 4]", "y": "fp32[4]", "i": "i32[2, 4]", "s": "fp32", "p": "*fp32[4]"}
    accepted = ["x.reduce(1, larger)", "tl.reduce((x,), 0, larger)[0]", "tl.reduce(p, 0, last)"]
    refused = ["tl.reduce((x, y), 0, both)[0]", "tl.reduce((x, x), 0, larger)[0]", "tl.reduce(x, 0, both)"]
    refused += ["tl.reduce(s, 0, larger)", "tl.reduce((x, i), 0, crossed)[0]", "tl.reduce(x, 2, larger)"]
    judge(values, [*accepted, *refused], helpers=written("larger", "last", "both", "crossed"))


def test_sum_of_every_dtype() -> None:
    """Small integers become 32 bits wide, floats stay, and `dtype` decides if it is given."""
    values = of((*DTYPES, "*fp32"), (4,))
    judge(values, [f"tl.sum({name}, 0)" for name in values])
    wanted = ("tl.float32", "tl.int8", "tl.uint32", "tl.int1")
    judge(of(PLAIN, (2, 4)), [f"tl.sum(x_{dtype}, 0, dtype={want})" for dtype in PLAIN for want in wanted])


@pytest.mark.parametrize("function", ["max", "min"])
def test_extremes_of_every_dtype(function: str) -> None:
    """Fewer than 32 bits become fp32 or int32."""
    values = of((*DTYPES, "*fp32"), (2, 4))
    judge(values, [f"tl.{function}({name}, 0)" for name in values])


@pytest.mark.parametrize("function", ["max", "min"])
def test_indices_of_extremes(function: str) -> None:
    """The dtype stays, the index is an int32, and equal values may be told apart."""
    values = of((*PLAIN, "*fp32"), (2, 4))
    calls = [f"tl.{function}({name}, 1, return_indices=True)" for name in values]
    judge(values, [f"{call}[{part}]" for call in calls for part in (0, 1)])
    judge(values, [f"tl.arg{function}({name}, 0)" for name in values])
    fast = f"tl.{function}(x, 0, return_indices=True, return_indices_tie_break_left=False)"
    others = [f"tl.arg{function}(x, 0, tie_break_left=False)", f"x.arg{function}(axis=-1)"]
    refused = [f"tl.arg{function}(x, None)", f"tl.{function}(x, return_indices=True)[0]"]
    judge({"x": "fp32[4, 2]"}, [f"{fast}[0]", f"{fast}[1]", *others, *refused])


@given(shape=blocks, axis=axes, keep=st.booleans())
@settings(max_examples=25)
def test_axes(shape: Shape, axis: int, keep: bool) -> None:
    """Any axis of any shape, counted from either end, kept or not; what is no axis is refused."""
    expressions = [f"tl.{f}(x, {axis}, keep_dims={keep})" for f in ("sum", "argmin")]
    judge({"x": spelled("i32", shape)}, [*expressions, f"tl.max(x, {axis}, return_indices=True, keep_dims={keep})[1]"])


@given(shape=blocks, keep=st.booleans())
@settings(max_examples=20)
def test_all_axes(shape: Shape, keep: bool) -> None:
    """Without an axis, everything is combined to one."""
    expressions = [f"tl.{f}(x, keep_dims={keep})" for f in ("sum", "max", "min", "xor_sum")]
    judge({"x": spelled("i16", shape), "s": "i32"}, [*expressions, "x.sum()", "x.max(None)", "tl.sum(s)", "tl.max(s)"])


def test_reductions_of_bits() -> None:
    """Exclusive or, or: integers of every dtype, and no widening."""
    values = of(DTYPES, (4,))
    judge(values, [f"tl.{f}({name}, 0)" for name in values for f in ("xor_sum", "reduce_or")])


def test_softmax() -> None:
    """What is made of all this."""
    values = {"x": "fp32[8]", "d": "fp64[8]", "h": "fp16[8]"}
    judge(values, ["tl.softmax(x)", "x.softmax()", "tl.softmax(d)", "tl.softmax(h)", "tl.sigmoid(x)", "tl.sigmoid(h)"])


# --- scans


@given(dtype=st.sampled_from(DTYPES), shape=blocks, axis=axes, reverse=st.booleans())
@settings(max_examples=25)
def test_scan_one_tensor(dtype: str, shape: Shape, axis: int, reverse: bool) -> None:
    """The shape stays; the axis is one of the shape's."""
    functions = ("last", "compared", *(("larger", "widened") if dtype in PLAIN else ()))
    expressions = [f"tl.associative_scan(x, {axis}, {function}, reverse={reverse})" for function in functions]
    judge({"x": spelled(dtype, shape)}, expressions, helpers=written(*functions))


def test_scan_several_tensors() -> None:
    """In step, as a reduction; a method of tensors as well."""
    values = {"x": "fp32[2, 4]", "i": "i32[2, 4]", "y": "fp32[4]", "s": "fp32"}
    calls = [f"tl.associative_scan((x, i), {axis}, both, {reverse})" for axis in (0, -1) for reverse in (True, False)]
    pairs = [f"{call}[{n}]" for call in calls for n in (0, 1)]
    crossed = [f"tl.associative_scan((x, x), 1, crossed)[{n}]" for n in (0, 1)]
    one = ["x.associative_scan(0, larger)", "tl.associative_scan((x,), 0, larger)[0]"]
    refused = ["tl.associative_scan((x, y), 0, both)[0]", "tl.associative_scan((x, i), 0, crossed)[0]"]
    refused += ["tl.associative_scan(s, 0, larger)", "tl.associative_scan(x, None, larger)"]
    judge(values, [*pairs, *crossed, *one, *refused], helpers=written("larger", "both", "crossed"))


def test_running_sums_of_every_dtype() -> None:
    """Converted as for `sum`, unless `dtype` says otherwise."""
    dtypes = (*PLAIN, "fp8e5", "*fp32")
    judge(of(dtypes, (4,)), [f"tl.cumsum(x_{dtype.replace('*', 'p_')})" for dtype in dtypes])
    wanted = ("tl.float32", "tl.int8")
    judge(of(PLAIN, (4,)), [f"tl.cumsum(x_{dtype}, dtype={want})" for dtype in PLAIN for want in wanted])
    judge(of((*WIDE, "fp16"), (4,)), [f"tl.cumprod(x_{dtype})" for dtype in (*WIDE, "fp16")])


@given(shape=blocks, axis=axes, reverse=st.booleans())
@settings(max_examples=20)
def test_running_sums_along_axes(shape: Shape, axis: int, reverse: bool) -> None:
    """Along 0 if nothing is said."""
    expressions = [f"tl.{f}(x, {axis}, {reverse})" for f in ("cumsum", "cumprod")]
    judge({"x": spelled("fp32", shape)}, [*expressions, f"x.cumsum(axis={axis}, reverse={reverse})", "tl.cumsum(x)"])


# --- refusals

REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    "tl.exp(h)": (ValueError, ("Expected dtype ['fp32', 'fp64'] but got fp16",)),
    "tl.exp(n)": (ValueError, ("int32",)),
    "tl.sqrt_rn(d)": (ValueError, ("Expected dtype ['fp32'] but got fp64",)),
    "tl.div_rn(n, x)": (ValueError, ("int32",)),
    "tl.umulhi(j, n)": (ValueError, ("int8",)),
    "tl.abs(p)": (TypeError, ("pointer<fp32>",)),
    "tl.maximum(p, p)": (TypeError, ("pointer<fp32>",)),
    "tl.minimum(x, x, propagate_nan=1)": (ValueError, ("propagate_nan",)),
    "tl.clamp(x, 0.0, 1.0, propagate_nan=1)": (ValueError, ("propagate_nan",)),
    "tl.fma(n, n, n)": (TypeError, ("int32",)),
    "tl.where(m, p, n)": (TypeError, ("pointer<fp32>", "int32")),
    "tl.where(m, p, x)": (TypeError, ("pointer<fp32>", "fp32")),
    "tl.where(m, j, 300)": (ValueError, ("300", "int8")),
    "tl.sum(x, 1)": (ValueError, ("1",)),
    "tl.argmax(x, -2)": (ValueError, ("-2",)),
    "tl.max(x, return_indices=True)": (ValueError, ("axis",)),
    "tl.cumsum(x, 3)": (ValueError, ("3",)),
    "tl.reduce(x, 0, compared)": (TypeError, ("fp32", "int1")),
    "tl.associative_scan(x, 0, compared)": (TypeError, ("fp32", "int1")),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """The class of the error, and the dtype, the number or the axis that does not fit."""
    values = {"x": "fp32[4]", "h": "fp16", "d": "fp64", "n": "i32", "j": "i8", "m": "i1", "p": "*fp32"}
    error, names = REFUSED[expression]
    Scene(values, helpers=written("compared")).refuses(expression, error, *names)
