"""Task 6.3: gathers and scatters through offsets and masks, which never leave the memory of an argument."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.library import memory
from mini_triton.ir.storage import Buffer, OutOfBounds

from tests.checks import described
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


class Argument:
    """Memory with an array `x` of 6 x 4 elements in it, of which a kernel gets a view; the rest guards it.

    Which element an offset leads to is said by the same view of an array of numbers.
    """

    def __init__(self, view: str = "x", dtype: Any = np.int32) -> None:
        numbers = np.arange(56)
        self.view = view
        self.all = (numbers + 1000).astype(dtype) if np.dtype(dtype) != bool else numbers % 3 == 0
        self.before = self.all.copy()
        self.array = eval(view, {"x": self.all[16:40].reshape(6, 4)})
        self.elements = np.asarray(eval(view, {"x": numbers[16:40].reshape(6, 4)})).ravel()
        self.buffer = Buffer.of("x", np.asarray(self.array))

    @property
    def offsets(self) -> list[int]:
        """Those that lead to its elements."""
        return sorted(int(element - self.elements[0]) for element in self.elements)

    def place(self, offset: int) -> int:
        """Where in all of the memory an element is."""
        return int(self.elements[0]) + offset

    def __str__(self) -> str:
        return f"{self.view} of {self.array.dtype}"


def each(shape: Sequence[int], *arrays: Any) -> list[tuple[tuple[int, ...], list[Any]]]:
    """For each lane its index and what arrays, which are broadcast, have there."""
    spread = [np.broadcast_to(array, shape) for array in arrays]
    return [(lane, [array[lane] for array in spread]) for lane in itertools.product(*map(range, shape))]


def first_bad(argument: Argument, shape: Sequence[int], offset: Any, mask: Any) -> list[tuple[tuple[int, ...], int]]:
    """The first lane, and its offset, that leads to what is not the argument's; and the first one beyond all of it."""
    inside = set(argument.offsets) if argument.elements.size else set()
    wanted = [(lane, int(at)) for lane, (at, used) in each(shape, offset, True if mask is None else mask) if used]
    bad = [(lane, at) for lane, at in wanted if at not in inside]
    beyond = [(lane, at) for lane, at in bad if not min(inside, default=0) <= at <= max(inside, default=-1)]
    return [*bad[:1], *beyond[:1]]


def shown(name: str, argument: Argument, *arguments: Any) -> str:
    """A call in words."""
    words = [np.asarray(x).tolist() if x is not None else None for x in arguments]
    return f"memory.{name}(<{argument}>, {', '.join(map(str, words))})"


def judge_load(argument: Argument, offset: Any, mask: Any = None, other: Any = None) -> None:
    """Lane by lane, the element at its offset, `other`, or 0; or the error for the first lane that is outside."""
    __tracebackhide__ = True
    options = {} if other is None else {"other": other}
    call = described(
        shown("load", argument, offset, mask, other), memory.load, argument.buffer, offset, mask, **options
    )
    both = np.broadcast_shapes(np.shape(offset), np.shape(mask))
    if bad := first_bad(argument, both, offset, mask):
        refused(call, argument, bad)
        return
    got = call()
    shape = both if mask is None else np.broadcast_shapes(both, np.shape(other))
    array = np.asarray(got)
    if array.shape != shape or array.dtype != argument.array.dtype:
        call.fail(f"{argument.array.dtype} of shape {shape}", f"{array.dtype} of shape {array.shape}")
    for lane, (at, wanted, instead) in each(
        shape, offset, True if mask is None else mask, 0 if other is None else other
    ):
        expected = argument.all[argument.place(int(at))] if wanted else argument.all.dtype.type(instead)
        if array[lane] != expected:
            call.fail(f"{expected} in lane {lane}", f"{array[lane]}")
    unchanged(call, argument)


def judge_store(argument: Argument, offset: Any, value: Any, mask: Any = None) -> None:
    """Each element has the value of a lane that writes it, or what it had; all is as before if a lane is outside."""
    __tracebackhide__ = True
    call = described(shown("store", argument, offset, value, mask), memory.store, argument.buffer, offset, value, mask)
    shape = np.broadcast_shapes(np.shape(offset), np.shape(value), np.shape(mask))
    outside = first_bad(argument, np.broadcast_shapes(np.shape(offset), np.shape(mask)), offset, mask)
    if outside and math.prod(shape):
        refused(call, argument, outside)
        return
    writers: dict[int, list[Any]] = {}
    for _, (at, written, wanted) in each(shape, offset, value, True if mask is None else mask):
        if wanted:
            writers.setdefault(argument.place(int(at)), []).append(written)
    call()
    for place, (before, after) in enumerate(zip(argument.before, argument.all, strict=True)):
        possible = writers.get(place, [before])
        if after not in possible:
            what = f"element {place - argument.place(0)} of x" if place in writers else "memory that no lane writes"
            call.fail(f"{what} is {' or '.join(map(str, possible))}", f"{after}")


def refused(call: described, argument: Argument, lanes: list[tuple[tuple[int, ...], int]]) -> None:
    """The call raises `OutOfBounds` with one of these lanes and its element; memory is as it was."""
    __tracebackhide__ = True
    expected = f"OutOfBounds, element {lanes[0][1]}, lane {lanes[0][0]}"
    try:
        got = call()
    except OutOfBounds as error:
        if (error.lane, error.element) not in lanes or error.buffer.name != "x":
            call.fail(expected, f"OutOfBounds, element {error.element}, lane {error.lane}", "it is the first one")
    else:
        call.fail(expected, got)
    unchanged(call, argument)


def unchanged(call: described, argument: Argument) -> None:
    """Memory is as it was."""
    __tracebackhide__ = True
    (changed,) = np.nonzero(argument.all != argument.before)
    if changed.size:
        call.fail("memory as it was", f"other elements {[int(place) - argument.place(0) for place in changed]} of x")


# --- any access

SHAPES = ((), (1,), (5,), (2, 1), (1, 3), (2, 3), (3, 1, 2), (0,), (0, 3))
near = st.integers(-30, 30)
inside = st.integers(0, 100)  # picks one of the argument's own
Drawn = tuple[str, tuple[int, ...], list[int], tuple[int, ...] | None, list[bool], bool]


@st.composite
def accesses(draw: st.DrawFn, wild: bool = False) -> Drawn:
    """A view, the shape of offsets, offsets, the shape of a mask, the mask, and whether offsets are int32."""
    shape = draw(st.sampled_from(SHAPES))
    count = math.prod(shape)
    offsets = draw(st.lists(near if wild else inside, min_size=count, max_size=count))
    masked = draw(st.none() | st.sampled_from([s for s in SHAPES if fits(s, shape)]))
    mask = draw(st.lists(st.booleans(), min_size=math.prod(masked or ()), max_size=math.prod(masked or ())))
    return draw(st.sampled_from(VIEWS)), shape, offsets, masked, mask, draw(st.booleans())


def fits(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether two shapes can be broadcast together."""
    return all(m == n or 1 in (m, n) for m, n in zip(x[::-1], y[::-1], strict=False))


def arrays(drawn: Drawn, wild: bool) -> tuple[Argument, Any, Any]:
    """The argument, offsets and mask that were drawn. Lanes that are masked off lead anywhere."""
    view, shape, offsets, masked, mask, narrow = drawn
    argument = Argument(view)
    if not wild and argument.elements.size:
        offsets = [argument.offsets[number % len(argument.offsets)] for number in offsets]
    array = np.array(offsets, np.int32 if narrow else np.int64).reshape(shape)[()]
    if masked is None:
        return argument, array, None
    wanted = np.array(mask, bool).reshape(masked)[()]
    if not wild and not narrow and np.shape(array) == masked:
        anywhere = np.resize(np.array(FAR), masked)
        array = np.where(wanted, array, anywhere)[()]
    return argument, array, wanted


@given(drawn=accesses(), other=st.none() | st.integers(-5, 5) | st.lists(st.integers(-5, 5), min_size=3, max_size=3))
def test_loads(drawn: Drawn, other: int | list[int] | None) -> None:
    """Of all shapes, from all kinds of views, with masks of other shapes; `other` is broadcast as well."""
    argument, offset, mask = arrays(drawn, wild=False)
    if isinstance(other, list) and not fits(np.broadcast_shapes(np.shape(offset), np.shape(mask)), (3,)):
        other = other[0]
    judge_load(argument, offset, mask, None if mask is None or other is None else np.array(other, np.int32)[()])


@given(drawn=accesses(), values=st.lists(st.integers(-50, 50), min_size=30, max_size=30), one=st.booleans())
def test_stores(drawn: Drawn, values: list[int], one: bool) -> None:
    """Of several lanes that write to one element, one counts. All other elements stay as they are."""
    argument, offset, mask = arrays(drawn, wild=False)
    shape = np.broadcast_shapes(np.shape(offset), np.shape(mask))
    value = np.int32(values[0]) if one else np.array(values[: math.prod(shape)], np.int32).reshape(shape)
    judge_store(argument, offset, value, mask)


@given(drawn=accesses(wild=True))
def test_accesses_that_may_be_outside(drawn: Drawn) -> None:
    """The first lane that is outside, or between the elements of a slice, is told, and nothing is written."""
    argument, offset, mask = arrays(drawn, wild=True)
    judge_load(argument, offset, mask)
    judge_store(argument, offset, np.int32(7), mask)


# --- bounds


@pytest.mark.parametrize("view", VIEWS)
def test_one_too_far(view: str) -> None:
    """At both ends. A negative stride has its elements before the one that is pointed to."""
    argument = Argument(view)
    low, high = (argument.offsets[0], argument.offsets[-1]) if argument.elements.size else (0, -1)
    for offset in (low - 1, high + 1, *range(low, high + 1)):
        for at in (np.int64(offset), np.array([offset])):
            judge_load(argument, at)
            judge_store(Argument(view), at, np.int32(5))


@pytest.mark.parametrize("far", FAR)
def test_far_outside(far: int) -> None:
    """Refused by name where the mask lets it through; where it does not, nothing happens."""
    for view in ("x", "x[:, :3]", "x[::-1]"):
        offset = np.array([0, far, 0])
        for mask in ([True, False, True], [False, False, False], [False, True, True]):
            judge_load(Argument(view), offset, np.array(mask), np.int32(-1))
            judge_store(Argument(view), offset, np.array([1, 2, 3], np.int32), np.array(mask))
    argument = Argument()
    judge_load(argument, np.int64(far), np.False_, np.int32(3))
    judge_store(argument, np.int64(far), np.int32(3), np.False_)


def test_narrow_offsets() -> None:
    """Where they and the origin are added up there is room for the sum."""
    for type, far in ((np.int8, 127), (np.int16, 2**15 - 1), (np.int32, 2**31 - 1)):
        for offset in (np.array([0, far, -3], type), type(far)):
            judge_load(Argument("x[::-1]"), offset)
            judge_store(Argument("x[::-1]"), offset, np.int32(1))


def test_the_first_of_many() -> None:
    """Lanes count in the order of the elements in an array."""
    offset = np.array([[0, 1, 2], [3, 77, 4], [99, 5, -1]])
    judge_load(Argument(), offset)
    judge_load(Argument(), offset, offset != 77)
    judge_load(Argument(), offset, np.array([[True], [False], [True]]))
    judge_store(Argument(), offset, np.int32(1), offset < 77)
    judge_store(Argument(), offset, np.arange(9, dtype=np.int32).reshape(3, 3), offset >= 0)


def test_nothing_is_written_by_a_store_that_fails() -> None:
    """Not even by the lanes before the one that is outside."""
    for mask in (None, np.array([True, True, True, False, True])):
        judge_store(Argument(), np.array([0, 1, 2, 3, 24]), np.arange(5, dtype=np.int32), mask)


# --- lanes that are masked off


def test_a_lane_that_is_masked_off_writes_nothing() -> None:
    """Also not what was there before: another lane may write to that element at the same time."""
    for offset in ([0, 0, 0], [3, 3, 3], [0, 3, 0]):
        for mask in itertools.product([False, True], repeat=3):
            judge_store(Argument(), np.array(offset), np.array([1, 2, 3], np.int32), np.array(mask))


def test_other() -> None:
    """What a lane gets that is masked off: 0, a number, or an element of its own."""
    offset, mask = np.array([4, 5, 6, 100]), np.array([True, False, True, False])
    judge_load(Argument(), offset, mask)
    judge_load(Argument(), offset, mask, np.int32(-3))
    judge_load(Argument(), offset, mask, np.array([1, 2, 3, 4], np.int32))
    judge_load(Argument(), offset[:3], np.array([[True], [False]]), np.array([[1], [2]], np.int32))
    judge_load(
        Argument(), np.arange(4), np.array([False, True, True, False]), np.arange(8, dtype=np.int32).reshape(2, 4)
    )
    judge_load(Argument(), np.int64(3), np.False_, np.array([[5], [6]], np.int32))


def test_other_keeps_its_bits() -> None:
    """An infinity for a maximum, a NaN to find mistakes."""
    x = np.array([1, 2, 3], np.float32)
    for other in (math.inf, -math.inf, math.nan):
        buffer = Buffer.of("x", x)
        got = memory.load(buffer, np.array([0, 1, 2]), np.array([True, False, True]), other=np.float32(other))
        assert np.array_equal(got, np.array([1, other, 3], np.float32), equal_nan=True), f"other={other} gives {got}"


# --- memory as such


@pytest.mark.parametrize("type", ["i1", *DTYPES])
def test_every_dtype(type: str) -> None:
    """Elements are moved as they are, every bit."""
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


def test_a_loaded_array_is_its_own() -> None:
    """Memory may change before it is used."""
    for mask in (None, np.ones(4, bool)):
        x = np.arange(4.0)
        got = memory.load(Buffer.of("x", x), np.arange(4), mask)
        x[:] = -1
        assert got.tolist() == [0, 1, 2, 3], f"with mask {mask}: memory changed, and with it what was loaded: {got}"
        got[:] = 7
        assert x.tolist() == [-1] * 4, f"with mask {mask}: what was loaded is changed, and with it memory: {x}"


def test_indices_are_checked_and_safe() -> None:
    """`checked` says where in `buffer.data` lanes look; those that are masked off look at 0."""
    for view, first in (("x", 0), ("x[::-1]", 20), ("x[::2]", 0)):
        buffer = Argument(view).buffer
        offset, mask = np.array([0, 1, 1000, 2]), np.array([True, True, False, True])
        got = memory.checked(buffer, offset, mask)
        expected = [first, first + 1, 0, first + 2]
        assert got.tolist() == expected, f"checked for {view}: expected {expected}, got {got.tolist()}"
        wide = memory.checked(buffer, np.int32(2), np.array([[True], [False]]))
        assert wide.tolist() == [[first + 2], [0]], f"offset and mask have this shape together: {wide.tolist()}"


def test_no_lanes() -> None:
    """Nothing is read, nothing is written, of an empty array, too."""
    for view in ("x", "x[:, :3]", "x[:0]"):
        for shape in ((0,), (0, 4), (3, 0)):
            for mask in (None, np.zeros(shape, bool)):
                judge_load(Argument(view), np.zeros(shape, np.int64), mask)
                judge_store(Argument(view), np.zeros(shape, np.int64), np.int32(1), mask)
        judge_load(Argument(view), np.array([0, 9, -9]), np.zeros(3, bool))
        judge_store(Argument(view), np.array([0, 9, -9]), np.int32(1), np.zeros(3, bool))
