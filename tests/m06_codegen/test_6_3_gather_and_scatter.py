"""Task 6.3: gathers and scatters through offsets and masks, which never leave the memory of an argument."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.library import memory
from mini_triton.ir.storage import Buffer

from tests.support.m06_codegen.accesses import Memory, judge_load, judge_store
from tests.support.m06_codegen.exactness import DTYPES

VIEWS: tuple[str, ...] = (
    "x",
    "x[1:5]",
    "x[:, :3]",
    "x[:, 1:2]",
    "x[::2]",
    "x[::-1]",
    "x[:, ::-1]",
    "x[::-2, 1:]",
    "x.T",
    "x[2, 1:]",
)
VIEWS += ("x[3, 2, ...]", "x[:0]", "x[5:1:-1, ::-2]")
FAR = (2**40, -(2**40), 2**62, -(2**63), 2**31, -(2**31) - 1)


def argument(view: str = "x", dtype: Any = np.int32) -> Memory:
    """Memory with an array `x` of 6 x 4 elements. A kernel gets a view of `x`; memory outside it must not change.

    The same view of an array of indices tells which element each offset reaches.
    """
    numbers = np.arange(56)
    everything = (numbers + 1000).astype(dtype)
    array = eval(view, {"x": everything[16:40].reshape(6, 4)})
    places = np.asarray(eval(view, {"x": numbers[16:40].reshape(6, 4)})).ravel().tolist()
    name = f"{view} of {array.dtype}"
    return Memory(name, Buffer.of("x", np.asarray(array)), everything, {at - places[0]: at for at in places})


# --- any access

SHAPES = ((), (1,), (5,), (2, 1), (1, 3), (2, 3), (3, 1, 2), (0,), (0, 3))
near = st.integers(-30, 30)
inside = st.integers(0, 100)  # picks an offset within the argument
Drawn = tuple[str, tuple[int, ...], list[int], tuple[int, ...] | None, list[bool], bool]


@st.composite
def accesses(draw: st.DrawFn, wild: bool = False) -> Drawn:
    """A view; the offsets' shape and the offsets; the mask's shape and the mask; and whether offsets are int32."""
    shape = draw(st.sampled_from(SHAPES))
    count = math.prod(shape)
    offsets = draw(st.lists(near if wild else inside, min_size=count, max_size=count))
    masked = draw(st.none() | st.sampled_from([s for s in SHAPES if fits(s, shape)]))
    mask = draw(st.lists(st.booleans(), min_size=math.prod(masked or ()), max_size=math.prod(masked or ())))
    return draw(st.sampled_from(VIEWS)), shape, offsets, masked, mask, draw(st.booleans())


def fits(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether two shapes can be broadcast together."""
    return all(m == n or 1 in (m, n) for m, n in zip(x[::-1], y[::-1], strict=False))


def arrays(drawn: Drawn, wild: bool) -> tuple[Memory, Any, Any]:
    """The argument, offsets and mask that were drawn. Masked-off lanes may have any offset.

    Without axes, int64 offsets and their mask are NumPy scalars, and int32 offsets and their mask are arrays.
    """
    view, shape, offsets, masked, mask, narrow = drawn
    place = argument(view)
    if not wild and place.places:
        offsets = [sorted(place.places)[number % len(place.places)] for number in offsets]
    array = np.array(offsets, np.int32).reshape(shape) if narrow else np.array(offsets, np.int64).reshape(shape)[()]
    if masked is None:
        return place, array, None
    wanted = np.array(mask, bool).reshape(masked)
    wanted = wanted if narrow else wanted[()]
    if not wild and not narrow and np.shape(array) == masked:
        anywhere = np.resize(np.array(FAR), masked)
        array = np.where(wanted, array, anywhere)[()]
    return place, array, wanted


@given(drawn=accesses(), other=st.none() | st.integers(-5, 5) | st.lists(st.integers(-5, 5), min_size=3, max_size=3))
def test_loads(drawn: Drawn, other: int | list[int] | None) -> None:
    """Loads of all shapes, from all kinds of views, with masks of other shapes; `other` is also broadcast."""
    place, offset, mask = arrays(drawn, wild=False)
    if isinstance(other, list) and not fits(np.broadcast_shapes(np.shape(offset), np.shape(mask)), (3,)):
        other = other[0]
    judge_load(place, offset, mask, None if mask is None or other is None else np.array(other, np.int32)[()])


@given(drawn=accesses(), values=st.lists(st.integers(-50, 50), min_size=30, max_size=30), one=st.booleans())
def test_stores(drawn: Drawn, values: list[int], one: bool) -> None:
    """If several lanes write to one element, one of them wins. All other elements stay unchanged."""
    place, offset, mask = arrays(drawn, wild=False)
    shape = np.broadcast_shapes(np.shape(offset), np.shape(mask))
    value = np.int32(values[0]) if one else np.array(values[: math.prod(shape)], np.int32).reshape(shape)
    judge_store(place, offset, value, mask)


@given(drawn=accesses(wild=True))
def test_accesses_that_may_be_outside(drawn: Drawn) -> None:
    """The error names the first lane that is outside the view or between its elements; nothing is written."""
    place, offset, mask = arrays(drawn, wild=True)
    judge_load(place, offset, mask)
    judge_store(place, offset, np.int32(7), mask)


def test_several_values_for_one_offset() -> None:
    """The offset, the mask and the value are broadcast together, as in `tl.store(out, pid)` of many programs."""
    for offset, value in ((3, [5, 6]), (3, [[5], [6]]), ([3, 4], [[5, 6], [7, 8]]), ([[3], [4]], [5, 6, 7])):
        for mask in (None, np.True_, np.False_):
            judge_store(argument(), np.array(offset)[()], np.array(value, np.int32), mask)
    judge_store(argument(), np.array([3, 77]), np.array([[5, 6], [7, 8]], np.int32), np.array([True, False]))


# --- bounds


@pytest.mark.parametrize("view", VIEWS)
def test_one_element_out_of_bounds(view: str) -> None:
    """Both ends are checked. With a negative stride, elements lie before the one that the argument points to."""
    place = argument(view)
    low, high = min(place.places, default=0), max(place.places, default=-1)
    for offset in (low - 1, high + 1, *range(low, high + 1)):
        for at in (np.int64(offset), np.array([offset])):
            judge_load(place, at)
            judge_store(argument(view), at, np.int32(5))


@pytest.mark.parametrize("far", FAR)
def test_far_outside(far: int) -> None:
    """Where the mask is true, an error names the argument; where it is false, nothing happens."""
    for view in ("x", "x[:, :3]", "x[::-1]"):
        offset = np.array([0, far, 0])
        for mask in ([True, False, True], [False, False, False], [False, True, True]):
            judge_load(argument(view), offset, np.array(mask), np.int32(-1))
            judge_store(argument(view), offset, np.array([1, 2, 3], np.int32), np.array(mask))
    judge_load(argument(), np.int64(far), np.False_, np.int32(3))
    judge_store(argument(), np.int64(far), np.int32(3), np.False_)


def test_narrow_offsets() -> None:
    """The sum of offset and origin must not overflow."""
    for type, far in ((np.int8, 127), (np.int16, 2**15 - 1), (np.int32, 2**31 - 1)):
        for offset in (np.array([0, far, -3], type), type(far)):
            judge_load(argument("x[::-1]"), offset)
            judge_store(argument("x[::-1]"), offset, np.int32(1))


def test_the_first_of_many() -> None:
    """The first lane is the first in row-major order."""
    offset = np.array([[0, 1, 2], [3, 77, 4], [99, 5, -1]])
    judge_load(argument(), offset)
    judge_load(argument(), offset, offset != 77)
    judge_load(argument(), offset, np.array([[True], [False], [True]]))
    judge_store(argument(), offset, np.int32(1), offset < 77)
    judge_store(argument(), offset, np.arange(9, dtype=np.int32).reshape(3, 3), offset >= 0)


def test_nothing_is_written_by_a_store_that_fails() -> None:
    """Not even the lanes before the out-of-bounds lane write."""
    for mask in (None, np.array([True, True, True, False, True])):
        judge_store(argument(), np.array([0, 1, 2, 3, 24]), np.arange(5, dtype=np.int32), mask)


# --- lanes that are masked off


def test_a_lane_that_is_masked_off_writes_nothing() -> None:
    """A masked-off lane must not even write the old value back, because another lane may write this element."""
    for offset in ([0, 0, 0], [3, 3, 3], [0, 3, 0]):
        for mask in itertools.product([False, True], repeat=3):
            judge_store(argument(), np.array(offset), np.array([1, 2, 3], np.int32), np.array(mask))


def test_other() -> None:
    """A masked-off lane gets 0, or a number, or its own element of `other`."""
    offset, mask = np.array([4, 5, 6, 100]), np.array([True, False, True, False])
    judge_load(argument(), offset, mask)
    judge_load(argument(), offset, mask, np.int32(-3))
    judge_load(argument(), offset, mask, np.array([1, 2, 3, 4], np.int32))
    judge_load(argument(), offset[:3], np.array([[True], [False]]), np.array([[1], [2]], np.int32))
    judge_load(
        argument(), np.arange(4), np.array([False, True, True, False]), np.arange(8, dtype=np.int32).reshape(2, 4)
    )
    judge_load(argument(), np.int64(3), np.False_, np.array([[5], [6]], np.int32))


def test_other_keeps_its_bits() -> None:
    """Infinities and NaNs are valid values of `other`."""
    x = np.array([1, 2, 3], np.float32)
    for other in (math.inf, -math.inf, math.nan):
        buffer = Buffer.of("x", x)
        got = memory.load(buffer, np.array([0, 1, 2]), np.array([True, False, True]), other=np.float32(other))
        assert np.array_equal(got, np.array([1, other, 3], np.float32), equal_nan=True), f"other={other} gives {got}"


# --- memory as such


@pytest.mark.parametrize("type", ["i1", *DTYPES])
def test_every_dtype(type: str) -> None:
    """Loads and stores copy every bit of an element."""
    dtype = np.dtype(bool) if type == "i1" else DTYPES[type]
    bits = np.array([0, 1]) if type == "i1" else np.arange(256) * 2 ** (8 * dtype.itemsize - 8) + 1
    x = bits.astype(f"u{dtype.itemsize}").view(dtype)
    out = np.zeros_like(x)
    lanes = np.arange(len(x))[::-1]
    mask = lanes % 3 != 1
    for given_mask in (None, mask):
        got = memory.load(Buffer.of("x", x), lanes, given_mask)
        assert got.dtype == dtype, f"elements of {dtype} are loaded as {got.dtype}"
        memory.store(Buffer.of("out", out), lanes, got, given_mask)
        assert out.tobytes() == x.tobytes(), f"{dtype}, mask {given_mask}: the bits of {x} became those of {out}"


def test_indices_are_checked_and_safe() -> None:
    """`checked` returns each lane's index into `buffer.data`, and 0 for masked-off lanes."""
    for view, first in (("x", 0), ("x[::-1]", 20), ("x[::2]", 0)):
        buffer = argument(view).buffer
        offset, mask = np.array([0, 1, 1000, 2]), np.array([True, True, False, True])
        got = memory.checked(buffer, offset, mask)
        expected = [first, first + 1, 0, first + 2]
        assert got.tolist() == expected, f"checked for {view}: expected {expected}, got {got.tolist()}"
        wide = memory.checked(buffer, np.int32(2), np.array([[True], [False]]))
        assert wide.tolist() == [[first + 2], [0]], (
            f"indices of the broadcast shape (2, 1) should be [[{first + 2}], [0]], not {wide.tolist()}"
        )


def test_no_lanes() -> None:
    """An access without lanes reads and writes nothing, even in an empty array."""
    for view in ("x", "x[:, :3]", "x[:0]"):
        for shape in ((0,), (0, 4), (3, 0)):
            for mask in (None, np.zeros(shape, bool)):
                judge_load(argument(view), np.zeros(shape, np.int64), mask)
                judge_store(argument(view), np.zeros(shape, np.int64), np.int32(1), mask)
        judge_load(argument(view), np.array([0, 9, -9]), np.zeros(3, bool))
        judge_store(argument(view), np.array([0, 9, -9]), np.int32(1), np.zeros(3, bool))
    far = np.array(FAR)
    judge_load(argument("x[:0]"), far, np.zeros(far.shape, bool))
    judge_store(argument("x[:0]"), far, np.int32(7), np.zeros(far.shape, bool))
