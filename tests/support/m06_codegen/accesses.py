"""The expected results of loads and stores, lane by lane, for stored and for lazy offsets and masks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from mini_triton.codegen.library import memory
from mini_triton.ir.storage import Buffer, OutOfBounds

from tests.checks import described

FIRST = "this lane is the first one out of bounds; offsets count from the element that the argument points to"


@dataclass
class Memory:
    """A buffer, the memory around it, and the position in this memory of the element at each offset."""

    name: str
    buffer: Buffer
    all: np.ndarray
    places: Mapping[int, int]

    def __post_init__(self) -> None:
        self.before = self.all.copy()

    def judge_unchanged(self, call: described, but: Mapping[int, list[Any]] | None = None) -> None:
        """Require that memory is unchanged, except for elements that may have one of the values in `but`."""
        __tracebackhide__ = True
        for place, (before, after) in enumerate(zip(self.before.tolist(), self.all.tolist(), strict=True)):
            possible = (but or {}).get(place, [before])
            if after not in possible:
                found = next((offset for offset, at in self.places.items() if at == place), None)
                what = "memory outside x" if found is None else f"element {found} of x"
                call.fail(f"{what} is {' or '.join(map(str, possible))}", f"{after}")


Lane = tuple[tuple[int, ...], int, bool]
"""A lane: its index, its offset, and whether its mask is true."""


def lanes(offset: Any, mask: Any) -> list[Lane]:
    shape = np.broadcast_shapes(np.shape(offset), np.shape(mask))
    wide, used = np.broadcast_to(offset, shape), np.broadcast_to(True if mask is None else mask, shape)
    return [(lane, int(wide[lane]), bool(used[lane])) for lane in np.ndindex(shape)]


def spell(value: Any) -> str:
    """An argument as text: its elements or, if it has none, its shape."""
    array = np.asarray(value)
    return str(array.tolist()) if array.size else f"np.zeros({array.shape})"


def calling(name: str, place: Memory, *arguments: Any, lazily: tuple[Any, Any] | None, **options: Any) -> described:
    """A call to the library, with lazy offsets and a lazy mask where the access has them."""
    offset, *values, mask = arguments
    shown = ", ".join(map(spell, (*arguments, *options.values())))
    words = f"memory.{name}(<{place.name}>, {shown})"
    if lazily:
        offset, mask = lazily
        words += f", where the offsets are {offset} and the mask is {mask}"
    return described(words, getattr(memory, name), place.buffer, offset, *values, mask, **options)


def judge_load(place: Memory, offset: Any, mask: Any = None, other: Any = None, lazily: Any = None) -> None:
    """Require for each lane the element at its offset, `other`, or 0; or the error for the first lane out of bounds."""
    __tracebackhide__ = True
    options = {} if other is None else {"other": other}
    call = calling("load", place, offset, mask, lazily=lazily, **options)
    if is_refused(call, place, lanes(offset, mask)):
        return
    both = np.broadcast_shapes(np.shape(offset), np.shape(mask))
    shape = both if mask is None else np.broadcast_shapes(both, np.shape(other))
    instead = np.broadcast_to(0 if other is None else other, shape)
    used = np.broadcast_to(True if mask is None else mask, shape)
    expected = np.zeros(shape, place.all.dtype)
    for lane, at, _ in lanes(np.broadcast_to(offset, shape), None):
        expected[lane] = place.before[place.places[at]] if used[lane] else instead[lane]
    got = np.asarray(call.succeeds(str(expected.tolist())))
    if lazily:
        got = np.broadcast_to(got, shape)
    place.judge_unchanged(call)
    place.all[:] = 0  # memory may change before the array is used
    if got.shape != shape or got.dtype != place.all.dtype:
        call.fail(f"{place.all.dtype} of shape {shape}", f"{got.dtype} of shape {got.shape}")
    for lane in np.ndindex(shape):
        if got[lane] != expected[lane]:
            call.fail(f"{expected[lane]} in lane {lane}", f"{got[lane]}")
    place.all[:] = place.before


def judge_store(place: Memory, offset: Any, value: Any, mask: Any = None, lazily: Any = None) -> None:
    """Require the old value of each element, or the value of a lane that writes it; after an error, only old values."""
    __tracebackhide__ = True
    call = calling("store", place, offset, value, mask, lazily=lazily)
    shape = np.broadcast_shapes(np.shape(offset), np.shape(value), np.shape(mask))
    if math.prod(shape) and is_refused(call, place, lanes(offset, mask)):
        return
    writers: dict[int, list[Any]] = {}
    wide = np.broadcast_to(value, shape)
    for lane, at, used in lanes(np.broadcast_to(offset, shape), mask):
        if used:
            writers.setdefault(place.places[at], []).append(wide[lane].item())
    call.succeeds("nothing")
    place.judge_unchanged(call, writers)


def is_refused(call: described, place: Memory, wanted: list[Lane]) -> bool:
    """Whether a lane is out of bounds. If so, the call must raise `OutOfBounds` for the first such lane, and not change
    memory.

    The error may instead name the first lane that is beyond all elements of a slice's buffer, and not between them.
    """
    __tracebackhide__ = True
    bad = [(lane, at) for lane, at, used in wanted if used and at not in place.places]
    low, high = min(place.places, default=0), max(place.places, default=-1)
    bad = [*bad[:1], *[(lane, at) for lane, at in bad if not low <= at <= high][:1]]
    if not bad:
        return False
    expected = f"OutOfBounds, element {bad[0][1]}, lane {bad[0][0]}"
    try:
        got = call()
    except OutOfBounds as error:
        if (error.lane, error.element) not in bad or error.buffer.name != "x":
            call.fail(expected, f"OutOfBounds, element {error.element}, lane {error.lane}", FIRST)
    else:
        call.fail(expected, got)
    place.judge_unchanged(call)
    return True
