"""Task 6.10: positions and masks that are not stored."""

import itertools
import operator
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from mini_triton.codegen.library.lazy import Affine, Box

from tests.checks import calling, described
from tests.support.m06_codegen import lazy_arrays
from tests.support.m06_codegen.lazy_arrays import Access, Sizes, accesses

Ranges = tuple[tuple[int, int], ...]
"""The start and the end of a box along each axis."""

# --- positions and masks


def judge_expression(text: str, sizes: Sizes) -> Any:
    """Require the elements, dtype and shape that NumPy's arrays give; return the lazy value."""
    __tracebackhide__ = True
    call = described(f"{text}\n  for {sizes}", sizes.value, text, True)
    lazily = call.succeeds("an array")
    got, expected = call_stored(call, lazily), np.asarray(sizes.value(text, False))
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        described(f"The dtype and the shape of {text}\n  for {sizes}", lambda: (got.dtype, got.shape)).returns(
            (expected.dtype, expected.shape), "NumPy computes the same dtype and shape"
        )
    if isinstance(lazily, Box):
        judge_empty_ranges(f"{text}\n  for {sizes}", lazily)
    if not np.array_equal(got, expected):
        at = tuple(map(int, np.argwhere(got != expected)[0]))
        shown = lazily if isinstance(lazily, (Affine, Box)) else got
        element = described(f"Element {at} of {text}\n  for {sizes}\n  which is {shown!r},", lambda: got[at].item())
        element.returns(expected[at].item(), "a lazy array has NumPy's elements, which wrap around")
    if isinstance(lazily, Affine):
        bounds = described(f"The bounds of {text}\n  for {sizes}\n  which is {lazily!r},", lambda: lazily.bounds)
        bounds.returns((int(got.min()), int(got.max())), "they are the smallest and the largest element")
    return lazily


def judge_empty_ranges(words: str, box: Box) -> None:
    """Require that every empty range of a box is (0, 0)."""
    __tracebackhide__ = True
    empty = {(first, end) for first, end in box.ranges if first >= end}
    assert empty <= {(0, 0)}, f"{words}\n  expected  (0, 0) for every empty range\n  got       {box!r}"


def call_stored(call: described, value: Any) -> np.ndarray:
    """The elements of a value, which may be lazy."""
    __tracebackhide__ = True
    return described(f"The elements of {call}, which is {value!r}", np.asarray, value).succeeds("an array")


@given(text=lazy_arrays.expressions, sizes=lazy_arrays.sizes)
def test_positions(text: str, sizes: Sizes) -> None:
    """Arithmetic on program ids, ranges, numbers and loaded values."""
    judge_expression(text, sizes)


@given(text=lazy_arrays.masks, sizes=lazy_arrays.sizes)
def test_masks(text: str, sizes: Sizes) -> None:
    """Comparisons of positions, alone or combined by `&`."""
    judge_expression(text, sizes)


POSITIONS = (
    "columns + 3",
    "3 + columns",
    "100 - columns",
    "columns * n",
    "np.int32(5) * columns",
    "columns + columns",
    "columns - rows",
    "pid * 64 + columns",
    "pid * 64 + rows * n + columns",
    "loaded * n + columns",
    "each - columns * 2",
    "columns + (7 - columns)",
    "each + (columns - each)",
    "(pid * 64 + columns) % 99999",
    "(pid * 16 + columns).astype(np.int64) * 1048576",
)


@pytest.mark.parametrize("text", POSITIONS)
def test_positions_stay_lazy(text: str) -> None:
    """An Affine has one start, or an array of starts along some axes, and a stride along each of its other axes."""
    for sizes in (Sizes(), Sizes(programs=1, first=11), Sizes(columns=1), Sizes(first=2**10, width=2**11)):
        got = judge_expression(text, sizes)
        assert isinstance(got, Affine), (
            f"{text}\n  for {sizes}\n  expected  an Affine\n  got       {type(got).__name__}"
        )


@pytest.mark.parametrize("text", lazy_arrays.MASKS)
def test_masks_stay_lazy(text: str) -> None:
    """A comparison that varies along at most one axis is a box; the intersection of boxes is a box."""
    for sizes in (Sizes(), Sizes(n=0), Sizes(n=-1), Sizes(n=15), Sizes(n=16, rows=1)):
        got = judge_expression(text, sizes)
        assert isinstance(got, Box), f"{text}\n  for {sizes}\n  expected  a Box\n  got       {type(got).__name__}"


NO_BOXES = (
    "loaded + columns < 5",
    "each * 2 - columns >= 0",
    "columns < loaded",
    "each < columns",
    "columns + rows < 9",
    "columns - rows > 0",
)


@pytest.mark.parametrize("text", NO_BOXES)
def test_masks_that_are_not_boxes(text: str) -> None:
    """Rows that end at different columns do not form a box."""
    got = judge_expression(text, Sizes())
    assert not isinstance(got, Box), f"{text}\n  expected  an array\n  got       {got!r}"


RANGES = (
    (((0, 8), (2, 6)), ((4, 8), (0, 4)), ((4, 8), (2, 4))),
    (((0, 8), (2, 6)), ((4, 8), (6, 8)), ((4, 8), (0, 0))),
    (((0, 3), (2, 6)), ((5, 8), (0, 1)), ((0, 0), (0, 0))),
    (((0, 8), (0, 0)), ((1, 8), (3, 6)), ((1, 8), (0, 0))),
)


@pytest.mark.parametrize(("x", "y", "expected"), RANGES)
def test_boxes_intersect(x: Ranges, y: Ranges, expected: Ranges) -> None:
    """Boxes intersect axis by axis; an empty range is (0, 0)."""
    call = described(f"Box({x}, (8, 8)) & Box({y}, (8, 8))", operator.and_, Box(x, (8, 8)), Box(y, (8, 8)))
    got, box = call.succeeds("a Box"), Box(expected, (8, 8))
    if not isinstance(got, Box) or not np.array_equal(call_stored(call, got), np.asarray(box)):
        call.fail(repr(box), got, because="the ranges intersect axis by axis")
    judge_empty_ranges(str(call), got)


def test_a_sum_keeps_bounds() -> None:
    """The bounds of a sum are known at once if no axis and no array of starts is common to both operands."""
    tens, j = Affine(0, (10, 0), (4, 1), np.int32), Affine(0, (0, 1), (1, 8), np.int32)
    call = described(f"{tens}.plus({j}).known_bounds", lambda: getattr(tens.plus(j), "known_bounds", None))
    call.returns((0, 37), "the smallest elements of both operands are added up at one corner, the largest at another")


def test_rows_of_programs() -> None:
    """`&` of a box and a stored mask of programs is a box that is restricted to the rows of these programs."""
    for text in (
        "(loaded > 0) & (columns < n)",
        "(columns >= 2) & (loaded > 0) & (each < 100 + columns)",
        "(loaded > 0) & (columns < n) & (loaded != 5)",
        "(loaded > 0) & (columns < n) & (loaded < 5)",
        "(columns < n) & (loaded < 5)",
    ):
        got = judge_expression(text, Sizes())
        assert isinstance(got, Box), f"{text}\n  expected  a Box with rows\n  got       {type(got).__name__}"


def test_a_sum_that_needs_all_elements_is_stored() -> None:
    """An Affine has no stride along an axis along which its starts vary."""
    texts = ("each + rows", "loaded + pid * 2", "rows * columns", "columns * columns + 1", "pid * columns - rows")
    for text, sizes in itertools.product(texts, (Sizes(), Sizes(programs=2, rows=2, columns=2))):
        got = judge_expression(text, sizes)
        if isinstance(got, Affine):
            both = [a for a, size in enumerate(np.shape(got.start)) if size > 1 and got.strides[a]]
            assert not both, (
                f"{text}\n  expected  no stride along an axis of the starts\n  got       {got}, with both along {both}"
            )


def test_nothing_is_stored() -> None:
    """A million positions and their mask need less than a byte each."""
    sizes = Sizes(programs=1000, width=10**6, columns=1000)
    sizes.value("pid + columns < n", True)  # late imports should not count
    tracemalloc.start()
    try:
        sizes.value("(pid * 1000 + columns - 5 >= 0 - n) & (columns + 3 < 900) & (pid * 2 < 1500)", True)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200_000, f"a mask for a million lanes\n  expected  fewer than 200,000 bytes\n  got       {most} bytes"


@given(access=accesses())
def test_bounds(access: Access) -> None:
    """The smallest and the largest element."""
    array = access.affine()
    because = "the bounds are the smallest and the largest element, as Python integers"
    calling(getattr, array, "bounds").returns((int(access.offsets.min()), int(access.offsets.max())), because)
    types = described(f"The types of the bounds of {array}", lambda: [type(bound).__name__ for bound in array.bounds])
    types.returns(["int", "int"], because)


@pytest.mark.parametrize("strides", [(2**62, 1), (-(2**62), 2**62), (2**70, -(2**70))])
def test_bounds_of_large_numbers(strides: tuple[int, int]) -> None:
    """Bounds are Python integers, so they may exceed the range of the dtype, in which the elements wrap around."""
    array = Affine(7, strides, (5, 3), np.int64)
    ends = [7 + strides[0] * i + strides[1] * j for i in range(5) for j in range(3)]
    calling(getattr, array, "bounds").returns((min(ends), max(ends)), "bounds are Python integers")
