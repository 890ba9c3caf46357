"""Task 4.8: reductions and scans, as in real Triton.

Triton's versions treat bf16 and fp8 differently in some of these functions. The tests check only where they agree.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.arguments import DTYPES, INTEGERS, Shape, of_each, typed
from tests.support.m04_language.expressions import Scene, judge

PLAIN = (*INTEGERS, "fp16", "fp32", "fp64")
WIDE = ("i32", "i64", "u32", "u64", "fp32", "fp64")

blocks = st.sampled_from(((4,), (1,), (2, 4), (4, 1), (4, 2, 8), (1, 2, 1)))
axes = st.integers(-4, 3)


COMBINE = {
    "larger": "(a, b): return tl.maximum(a, b)",
    "last": "(a, b): return b",
    "both": "(a, i, b, j): return a + b, i * j",
    "crossed": "(a, i, b, j): return a - j, b - i",
    "three": "(a, b, c, d, e, f): return a + d, tl.where(b > e, c, f), c * f",
    "one": "(a, b): return (a + b,)",
    "number": "(a, b): return 0",
    "compared": "(a, b): return a > b",
    "widened": "(a, b): return a * 1.5 + b",
}


def written(*functions: str) -> str:
    """The source of these combine functions."""
    return "\n".join(f"@triton.jit\ndef {function}{COMBINE[function]}" for function in functions)


COMBINERS = {"reduce": "tl.reduce({}, {}, {}, keep_dims={})", "associative_scan": "tl.associative_scan({}, {}, {}, {})"}


@pytest.mark.parametrize("name", COMBINERS)
@given(dtype=st.sampled_from(DTYPES), shape=blocks, axis=axes | st.none(), option=st.booleans())
@one_in(4)
def test_combine_one_tensor(name: str, dtype: str, shape: Shape, axis: int | None, option: bool) -> None:
    """The kernel's combine function must return the type that it takes, and the axis must be one of the tensor's."""
    functions = ("last", "compared", *(("larger", "widened") if dtype in PLAIN else ()))
    expressions = [COMBINERS[name].format("x", axis, function, option) for function in functions]
    judge({"x": typed(dtype, shape)}, expressions, helpers=written(*functions))


@pytest.mark.parametrize("name", COMBINERS)
@given(dtypes=st.tuples(*[st.sampled_from(WIDE)] * 3), shape=blocks, axis=axes | st.none(), option=st.booleans())
@one_in(6)
def test_combine_several_tensors(
    name: str, dtypes: tuple[str, str, str], shape: Shape, axis: int | None, option: bool
) -> None:
    """The combine function takes all values of one element first, and then all values of another element."""
    values = {name: typed(dtype, shape) for name, dtype in zip("xyz", dtypes, strict=True)}
    two = [f"{COMBINERS[name].format('(x, y)', axis, f, option)}[{i}]" for f in ("both", "crossed") for i in (0, 1)]
    three = COMBINERS[name].format("(x, z, x)", axis, "three", option)
    judge(values, [*two, f"{three}[1]", f"{three}[2]"], helpers=written("both", "crossed", "three"))


@pytest.mark.parametrize("name", COMBINERS)
def test_sources_that_do_not_agree(name: str) -> None:
    """Sources and results must agree in type. For a tuple of one tensor, the result is a tuple."""
    values = {"x": "fp32[2, 4]", "y": "fp32[4]", "i": "i32[2, 4]", "s": "fp32", "p": "*fp32[4]"}
    expressions = [f"x.{name}(1, larger)", f"tl.{name}((x,), 0, larger)[0]", f"tl.{name}(p, 0, last)"]
    expressions += [f"tl.{name}((x, y), 0, both)[0]", f"tl.{name}((x, x), 0, larger)[0]", f"tl.{name}(x, 0, both)"]
    expressions += [f"tl.{name}(x, 1, one)"]
    expressions += [f"tl.{name}(s, 0, larger)", f"tl.{name}((x, i), 0, crossed)[0]", f"tl.{name}(x, 2, larger)"]
    judge(values, expressions, helpers=written("larger", "last", "both", "crossed", "one"))


def test_sum_of_every_dtype() -> None:
    """Small integers are widened to 32 bits, and floats keep their dtype, unless `dtype` is given."""
    values = of_each((*DTYPES, "*fp32"), (4,))
    judge(values, [f"tl.sum({name}, 0)" for name in values])
    wanted = ("tl.float32", "tl.int8", "tl.uint32", "tl.int1")
    judge(of_each(PLAIN, (2, 4)), [f"tl.sum(x_{dtype}, 0, dtype={want})" for dtype in PLAIN for want in wanted])


@pytest.mark.parametrize("function", ["max", "min"])
def test_extremes_of_every_dtype(function: str) -> None:
    """Dtypes of fewer than 32 bits become fp32 or int32."""
    values = of_each((*DTYPES, "*fp32"), (2, 4))
    judge(values, [f"tl.{function}({name}, 0)" for name in values])


@pytest.mark.parametrize("function", ["max", "min"])
def test_indices_of_extremes(function: str) -> None:
    """The value keeps its dtype, and the index is an int32. An option chooses the leftmost of equal values."""
    values = of_each((*PLAIN, "*fp32"), (2, 4))
    calls = [f"tl.{function}({name}, 1, return_indices=True)" for name in values]
    judge(values, [f"{call}[{part}]" for call in calls for part in (0, 1)])
    judge(values, [f"tl.arg{function}({name}, 0)" for name in values])
    fast = f"tl.{function}(x, 0, return_indices=True, return_indices_tie_break_left=False)"
    others = [f"tl.arg{function}(x, 0, tie_break_left=False)", f"x.arg{function}(axis=-1)"]
    refused = [f"tl.arg{function}(x, None)", f"tl.{function}(x, return_indices=True)[0]"]
    judge({"x": "fp32[4, 2]"}, [f"{fast}[0]", f"{fast}[1]", *others, *refused])


@given(shape=blocks, axis=axes, option=st.booleans())
@one_in(3)
def test_axes(shape: Shape, axis: int, option: bool) -> None:
    """An axis counts from either end, and is kept or dropped. Without an axis, all elements are combined."""
    values = {"x": typed("i32", shape), "f": typed("fp32", shape), "s": "i32"}
    expressions = [f"tl.{f}(x, {axis}, keep_dims={option})" for f in ("sum", "argmin")]
    expressions += [f"tl.max(x, {axis}, return_indices=True, keep_dims={option})[1]", "x.max(None)", "tl.sum(s)"]
    expressions += [f"tl.{f}(x, keep_dims={option})" for f in ("sum", "max", "min", "xor_sum")]
    expressions += [f"tl.{f}(f, {axis}, {option})" for f in ("cumsum", "cumprod")]
    judge(values, [*expressions, f"f.cumsum(axis={axis}, reverse={option})", "tl.cumsum(f)", "x.sum()"])


def test_reductions_of_bits() -> None:
    """`xor_sum` and `reduce_or` take integers of every dtype, and do not widen them."""
    values = of_each(DTYPES, (4,))
    judge(values, [f"tl.{f}({name}, 0)" for name in values for f in ("xor_sum", "reduce_or")])


def test_softmax() -> None:
    """Softmax, sigmoid and similar functions are composed of the operations above."""
    values = {"x": "fp32[8]", "d": "fp64[8]", "h": "fp16[8]"}
    judge(values, ["tl.softmax(x)", "x.softmax()", "tl.softmax(d)", "tl.softmax(h)", "tl.sigmoid(x)", "tl.sigmoid(h)"])


def test_running_sums_of_every_dtype() -> None:
    """Without `dtype`, `cumsum` converts its input as `sum` does."""
    dtypes = (*PLAIN, "fp8e5", "*fp32")
    judge(of_each(dtypes, (4,)), [f"tl.cumsum(x_{dtype.replace('*', 'p_')})" for dtype in dtypes])
    wanted = ("tl.float32", "tl.int8")
    judge(of_each(PLAIN, (4,)), [f"tl.cumsum(x_{dtype}, dtype={want})" for dtype in PLAIN for want in wanted])
    judge(of_each((*WIDE, "fp16"), (4,)), [f"tl.cumprod(x_{dtype})" for dtype in (*WIDE, "fp16")])


REFUSED: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
    "tl.sum(x, 1)": (ValueError, ("1",)),
    "tl.argmax(x, -2)": (ValueError, ("-2",)),
    "tl.max(x, return_indices=True)": (ValueError, ("axis",)),
    "tl.cumsum(x, 3)": (ValueError, ("3",)),
    "tl.cumsum(x, None)": (ValueError, ("axis",)),
    "tl.reduce(x, 0, compared)": (TypeError, ("fp32", "int1")),
    "tl.associative_scan(x, 0, compared)": (TypeError, ("fp32", "int1")),
    "tl.reduce(x, 0, number)": (TypeError, ("fp32",)),  # which Triton 3.6 accepts
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """The error has the expected class, and names the wrong dtype, number or axis."""
    error, names = REFUSED[expression]
    Scene({"x": "fp32[4]"}, helpers=written("compared", "number")).refuses(expression, error, *names)
