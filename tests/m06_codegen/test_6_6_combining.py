"""Task 6.6: the library's reductions, scans and dot products, of many programs at once."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.library import combine

from tests.checks import described
from tests.oracles.elementwise import FLOATS, INTEGERS
from tests.support.m06_codegen.exactness import DTYPES, rounded, wrapped

NUMPY = {**DTYPES, "i1": np.dtype(bool)}
LENGTHS = (1, 2, 4, 8, 16, 256)
SHAPES = ((1,), (2,), (16,), (256,), (3, 8), (5, 1, 4), (2, 4, 2), (3, 2, 1, 4), (0, 4), (7, 2, 4, 2))
"""Sizes of tensors are powers of two; the leading axis may have any number of programs."""
Combine = Callable[..., tuple[Any, ...]]


def folded(meaning: Combine, elements: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The running combination after each element."""
    return list(itertools.accumulate(elements, lambda left, right: meaning(*left, *right)))


def judge(
    function: Any, meaning: Combine, sources: Sequence[np.ndarray], axis: int, reverse: bool | None = None
) -> None:
    """Compare a reduction, or a scan if `reverse` is given, with `meaning`, applied to one element after the other."""
    __tracebackhide__ = True
    options = {} if reverse is None else {"reverse": reverse}
    name = function.__name__
    shown = ", ".join(f"{x.dtype}{x.tolist()}" if x.size <= 32 else f"<{x.dtype} {x.shape}>" for x in sources)
    operation = combine.reduce if reverse is None else combine.scan
    words = f"combine.{operation.__name__}({name}, ({shown},), {axis}{', reverse=True' * bool(reverse)})"
    call = described(words, operation, function, tuple(sources), axis, **options)
    got = [np.asarray(array) for array in call()]
    moved = [np.moveaxis(x, axis, -1) for x in sources]
    lines = moved[0].shape[:-1]
    expected = [np.zeros(lines if reverse is None else moved[0].shape, x.dtype) for x in sources]
    for line in np.ndindex(lines):
        elements = list(zip(*(x[line].tolist() for x in moved), strict=True))
        running = folded(meaning, elements[::-1] if reverse else elements)
        for array, column in zip(expected, zip(*running, strict=True), strict=True):
            array[line] = column[-1] if reverse is None else (column[::-1] if reverse else column)
    if reverse is not None:
        expected = [np.moveaxis(array, -1, axis) for array in expected]
    for mine, its in zip(got, expected, strict=True):
        if (mine.dtype, mine.shape) != (its.dtype, its.shape):
            call.fail(f"{its.dtype} of shape {its.shape}", f"{mine.dtype} of shape {mine.shape}")
        if not np.array_equal(mine, its, equal_nan=mine.dtype.kind == "f"):
            call.fail(str(its.tolist()), mine.tolist())


def judge_all(function: Any, meaning: Combine, sources: Sequence[np.ndarray], axis: int) -> None:
    """Judge a reduction, a scan, and a scan from the end."""
    __tracebackhide__ = True
    for reverse in (None, False, True):
        judge(function, meaning, sources, axis, reverse)


def numbered(shape: Sequence[int], type: str, seed: int = 1) -> np.ndarray:
    """Small integers of this dtype; neighbors differ."""
    dtype = NUMPY[type]
    numbers = np.arange(1, math.prod(shape) + 1) * (7 + 2 * seed) % 23 - 11
    return (numbers % 3 == 0 if type == "i1" else numbers).astype(dtype).reshape(shape)


# --- ufuncs

UFUNCS: dict[np.ufunc, Callable[[int, int], int]] = {
    np.add: lambda x, y: x + y,
    np.multiply: lambda x, y: x * y,
    np.maximum: max,
    np.minimum: min,
    np.bitwise_and: lambda x, y: x & y,
    np.bitwise_or: lambda x, y: x | y,
    np.bitwise_xor: lambda x, y: x ^ y,
}


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("type", INTEGERS)
def test_integers(ufunc: np.ufunc, type: str) -> None:
    """Sums of narrow integers keep their dtype, and wrap around. NumPy would add in `int64`."""
    meaning = lambda x, y: (wrapped(UFUNCS[ufunc](x, y), type),)  # noqa: E731
    extremes = np.resize(np.array([100, 90, -3, 127, 5, -128, 77, 1]), 16).astype(NUMPY[type])
    for array in (*(numbered(shape, type) for shape in SHAPES), extremes):
        for axis in range(-array.ndim, 0):
            if array.shape[axis] in LENGTHS:
                judge_all(ufunc, meaning, [array], axis)


@pytest.mark.parametrize("type", FLOATS)
def test_floats(type: str) -> None:
    """Results keep the dtype. Sums of these numbers are exact in any order."""
    for shape, axis in (((8,), -1), ((3, 8), -1), ((4, 2), -2), ((3, 4, 2), -2), ((2, 4, 2), -3)):
        array = numbered(shape, type) / NUMPY[type].type(2)
        for ufunc in (np.add, np.maximum, np.minimum):
            meaning = functools.partial(lambda f, x, y: (f(x, y),), UFUNCS[ufunc])
            judge_all(ufunc, meaning, [array], axis)


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_sums_of_narrow_floats(type: str) -> None:
    """A running sum stops growing: 256 + 1 is 256 in bf16. A tree reduction of 4096 numbers rounds 12 times."""
    array = np.random.default_rng(1).random((4, 4096)).astype(NUMPY[type])
    exact = array.astype(np.float64).sum(-1)
    allowed = 12 * float(ml_dtypes.finfo(NUMPY[type]).eps) * exact
    for name, (got,) in (
        ("reduce", combine.reduce(np.add, (array,), -1)),
        ("reduce along another axis", combine.reduce(np.add, (np.ascontiguousarray(array.T),), -2)),
        ("scan", (combine.scan(np.add, (array,), -1)[0][:, -1],)),
        ("scan, reversed", (combine.scan(np.add, (array,), -1, reverse=True)[0][:, 0],)),
    ):
        off = np.abs(got.astype(np.float64) - exact)
        assert (off <= allowed).all(), f"{name}: the sums of 4096 {type} are {got}; the exact sums are {exact}"


def test_nan() -> None:
    """`maximum` of a NaN and a number is NaN; `fmax` of them is the number."""
    for ufunc, expected in ((np.maximum, math.nan), (np.fmax, 3.0), (np.minimum, math.nan), (np.fmin, -2.0)):
        for at in range(4):
            array = np.insert(np.array([1, 3, -2], np.float32), at, np.nan)
            (got,) = combine.reduce(ufunc, (array,), -1)
            assert np.array_equal(got, expected, equal_nan=True), f"{ufunc.__name__} of {array} is {got}"


def test_booleans() -> None:
    """Booleans are integers of one bit: 1 + 1 is 0."""
    for ufunc, meaning in (
        (np.add, lambda x, y: (x != y,)),
        (np.multiply, lambda x, y: (x and y,)),
        (np.bitwise_or, lambda x, y: (x or y,)),
        (np.bitwise_and, lambda x, y: (x and y,)),
        (np.bitwise_xor, lambda x, y: (x != y,)),
    ):
        for shape, axis in itertools.product([(2, 8), (4, 4)], (-1, -2)):
            for array in (numbered(shape, "i1"), np.ones(shape, bool)):
                judge_all(ufunc, meaning, [array], axis)


# --- functions


def composed(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Compose f(x) = a x + b with c x + d, which is applied second."""
    return a * c, b * c + d


def largest(x: Any, i: Any, y: Any, j: Any) -> tuple[Any, Any]:
    """The larger number with its index; of two equal numbers, the first with its index."""
    left = (x > y) | (x == y) & (i < j)
    return np.where(left, x, y)[()], np.where(left, i, j)[()]


def first(x: Any, y: Any) -> tuple[Any]:
    return (x,)


def last(x: Any, y: Any) -> tuple[Any]:
    return (y,)


def statistics(n: Any, mean: Any, m2: Any, k: Any, other: Any, n2: Any) -> tuple[Any, Any, Any]:
    """Three results: three running sums."""
    return n + k, mean + other, m2 + n2


@given(shape=st.sampled_from(SHAPES), of=st.integers(0, 3), reverse=st.none() | st.booleans(), seed=st.integers(0, 9))
def test_functions(shape: tuple[int, ...], of: int, reverse: bool | None, seed: int) -> None:
    """These functions depend on the order of the elements: left operands come first."""
    axes = [axis for axis in range(-len(shape), 0) if shape[axis] in LENGTHS]
    axis = axes[of % len(axes)]
    x, y = numbered(shape, "i64", seed), numbered(shape, "i64", seed + 3)
    for function, sources in ((composed, (x, y)), (largest, (x % 3, y)), (first, (x,)), (last, (x,))):
        with np.errstate(over="ignore"):
            judge(function, wrapping(function), sources, axis, reverse)


def wrapping(function: Combine) -> Combine:
    """The function on Python's integers, with results wrapped to 64 bits."""
    return lambda *elements: tuple(wrapped(int(x), "i64") for x in function(*elements))


def test_several_sources() -> None:
    """Each source keeps its dtype."""
    counts, sums = np.ones((3, 8), np.int32), numbered((3, 8), "f32")
    squares = sums.astype(np.float64) ** 2
    judge_all(statistics, statistics, [counts, sums, squares], -1)


@pytest.mark.parametrize("name", ["reduce", "scan"])
def test_a_call_combines_many_pairs(name: str) -> None:
    """One call for all pairs of a round: for 64 elements, 6 calls, not 63. Up to 12 are accepted."""
    calls = []

    def added(x: Any, y: Any) -> tuple[Any]:
        calls.append(np.shape(x))
        return (x + y,)

    sources = (numbered((3, 64), "i64"),)
    call = described(f"combine.{name} of (3, 64) elements by a function", getattr(combine, name), added, sources, -1)
    call.succeeds()
    if len(calls) > 12:
        call.fail("about 6 calls of the function", f"{len(calls)} calls, each of shape {calls[0]}", "log2(64) is 6")


def test_operands_stay() -> None:
    """The operands may be used again."""
    x = np.arange(16, dtype=np.int32).reshape(2, 8)
    before = x.copy()
    for axis in (-1, -2):
        combine.reduce(np.add, (x,), axis)
        combine.scan(np.add, (x,), axis)
        combine.scan(np.add, (x,), axis, reverse=True)
        combine.reduce(composed, (x, x), axis)
        combine.scan(composed, (x, x), axis, reverse=True)
    assert (x == before).all(), f"reductions and scans must not change x, but x is {x.tolist()}"


# --- dot

PRODUCTS = [("i8", "i32"), ("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("bf16", "bf16"), ("f32", "f32")]
PRODUCTS += [("f64", "f64"), ("f8E5M2", "f32"), ("f8E4M3FN", "f32"), ("f8E5M2", "f16")]


def some(array: np.ndarray) -> str:
    """An array as messages show it: only its ends if it is long."""
    return np.array2string(array, threshold=16, edgeitems=3, separator=", ")


def judge_dot(a: np.ndarray, b: np.ndarray, c: Any, type: str) -> None:
    """Every element is c + a sum of products, computed exactly; an integer wraps around, a float is rounded."""
    __tracebackhide__ = True
    copies = [array.copy() for array in (a, b, c)]
    words = f"combine.dot({', '.join(f'<{array.dtype} {array.shape}>' for array in (a, b, c))})"
    call = described(words, combine.dot, a, b, c)
    got = np.asarray(call())
    leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = np.broadcast_shapes((*leading, a.shape[-2], b.shape[-1]), c.shape)
    if (got.dtype, got.shape) != (NUMPY[type], shape):
        call.fail(f"{NUMPY[type]} of shape {shape}", f"{got.dtype} of shape {got.shape}")
    wide = np.broadcast_to(c, shape)
    left = np.broadcast_to(a, (*shape[:-2], *a.shape[-2:]))
    right = np.broadcast_to(b, (*shape[:-2], *b.shape[-2:]))
    for at in np.ndindex(shape):
        row, column = left[(*at[:-2], at[-2])], right[(*at[:-2], slice(None), at[-1])]
        pairs = zip(row.tolist(), column.tolist(), strict=True)
        exact = Fraction(float(wide[at])) + sum(Fraction(float(x)) * Fraction(float(y)) for x, y in pairs)
        expected = wrapped(int(exact), type) if type == "i32" else rounded(exact, type)
        if float(got[at]) != expected:
            terms = f"{wide[at]} + the products of {some(row)} and {some(column)}"
            call.fail(f"{expected} at {at}", f"{got[at]}", f"that is {terms}")
    for before, after in zip(copies, (a, b, c), strict=True):
        if before.tobytes() != after.tobytes():
            call.fail("unchanged operands", "changed operands", "later operations may use the operands again")


@pytest.mark.parametrize(("narrow", "wide"), PRODUCTS)
def test_dot(narrow: str, wide: str) -> None:
    """Products of one program, of many, and with batches; c may vary along fewer or more axes than the product."""
    zero = NUMPY[wide].type(0)
    for a, b, c in (
        ((4, 8), (8, 2), (4, 2)),
        ((1, 16), (16, 1), (1, 1)),
        ((3, 4, 8), (3, 8, 2), (3, 4, 2)),
        ((3, 4, 8), (8, 2), (4, 2)),
        ((4, 8), (3, 8, 2), (3, 1, 1)),
        ((4, 8), (8, 2), (5, 4, 2)),
        ((3, 2, 4, 8), (3, 2, 8, 2), (3, 2, 4, 2)),
        ((3, 2, 4, 8), (2, 8, 2), (1, 1, 2)),
        ((0, 4, 8), (0, 8, 2), (0, 4, 2)),
        ((3, 4, 8), (3, 8, 2), None),
    ):
        x, y = numbered(a, narrow, 1), numbered(b, narrow, 2)
        judge_dot(x, y, zero if c is None else numbered(c, wide, 3), wide)
    judge_dot(x, y, NUMPY[wide].type(1), wide)


def test_narrow_floats_are_added_up_in_wide_ones() -> None:
    """Products and sums have fp32's precision and range, and the result is rounded once."""
    for a, b, c, type in (
        ([300.0, 300.0], [300.0, -300.0], 0.0, "f32"),
        ([300.0], [300.0], 0.0, "f32"),
        ([2048.0, 1.0, 1.0], [1.0, 1.0, 1.0], 0.0, "f32"),
        ([2048.0, 1.0, 1.0], [1.0, 1.0, 1.0], 0.0, "f16"),
        ([1.0, 1.0], [1.0, 1.0], 2048.0, "f16"),
        ([300.0], [300.0], -60000.0, "f16"),
    ):
        left, right = np.array([a], np.float16), np.array([b], np.float16).T
        judge_dot(left, right, np.full((1, 1), c, NUMPY[type]), type)
        judge_dot(left, right, NUMPY[type].type(c), type)
    odd = np.array([[129.0]]).astype(NUMPY["bf16"])
    judge_dot(odd, odd, np.zeros((1, 1), np.float32), "f32")
    judge_dot(odd, odd.astype(NUMPY["bf16"]), np.zeros((1, 1), NUMPY["bf16"]), "bf16")


def test_fp64_keeps_its_digits() -> None:
    small = np.array([[1.0, 2.0**-20]])
    judge_dot(small, small.T.copy(), np.zeros((1, 1)), "f64")
    judge_dot(np.array([[2.0**20]]), np.array([[2.0**20]]), np.array([[1.0]]), "f64")


def test_sums_of_bytes_are_exact() -> None:
    """The largest possible products, and an accumulator that wraps around."""
    least = np.full((2, 256), -128, np.int8)
    judge_dot(least, least.T.copy(), np.int32(0), "i32")
    judge_dot(least, least.T.copy(), np.full((2, 2), 2**31 - 1, np.int32), "i32")
    judge_dot(least, np.full((256, 2), 127, np.int8), np.full((2, 2), 2**24 + 1, np.int32), "i32")


@pytest.mark.parametrize("count", [2048, 4096])
def test_sums_of_thousands_of_bytes_are_exact(count: int) -> None:
    """127 * 127, thousands of times, is more than fp32 has digits for: the sum is odd, so fp32 cannot represent it."""
    ones = np.full((1, count), 127, np.int8)
    ones[0, -1] = 1
    right = np.full((count, 1), 127, np.int8)
    right[-1, 0] = 2
    judge_dot(ones, right, np.zeros((1, 1), np.int32), "i32")
    judge_dot(-ones, right, np.full((1, 1), 2, np.int32), "i32")
