"""Atomic operations of many programs at once: as if one came after the other.

Any order of the programs is right, because a GPU promises none. Here it is that of their numbers.

Source: PTX ISA, "atom".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.codegen.library.memory import checked
from mini_triton.ir.storage import ATOMICS, Buffer


def rmw(
    name: str,
    buffer: Buffer,
    offset: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
    result: bool = True,
) -> Array | None:
    """Read, compute `name` of what was read and of `value`, write. Returns what was read: 0 where the mask is false.

    `shape` is that of the access. Without `result` nothing is returned, which is faster.
    """
    index, lanes, (values,) = lanes_of(buffer, offset, shape, mask, value)
    function = ATOMICS[name]
    # Task 6.9: Adding 1, 2 and 3 to an element that holds 0, in three lanes, reads 0, 1 and 3. Given: `in_turns`,
    # below; of a ufunc, `function.at(array, index, values)` combines repeated indices, too, but returns nothing.
    # `lanes` are the positions of the active lanes, in order, `index` their elements, `values` those of all lanes.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def cas(
    buffer: Buffer,
    offset: Array,
    expected: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
) -> Array:
    """Compare and swap: write where memory holds what is expected. Returns what it held."""
    index, lanes, (wanted, values) = lanes_of(buffer, offset, shape, mask, expected, value)
    # Task 6.9: 0, 0 and 1, swapped for 1, 1 and 2, in three lanes at an element that holds 0, read 0, 1 and 1. A float
    # is compared by its bits: -0.0 is not 0.0, and a NaN may be expected.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def lanes_of(
    buffer: Buffer, offset: Array, shape: tuple[int, ...], mask: Array | None, *values: Array
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The access, flat: the index of each active lane, the positions of these lanes, the values of all lanes."""
    taking_part = None if mask is None else np.broadcast_to(stored(mask), shape)
    index = checked(buffer, np.broadcast_to(stored(offset), shape), taking_part).ravel()
    lanes = np.arange(index.size) if taking_part is None else np.flatnonzero(taking_part)
    flat = [np.broadcast_to(stored(value), shape).ravel().astype(buffer.data.dtype, copy=False) for value in values]
    return index[lanes], lanes, flat


def in_turns(
    buffer: Buffer,
    index: np.ndarray,
    lanes: np.ndarray,
    shape: tuple[int, ...],
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Let every lane replace its element by `step(old, lane)`. Returns the old elements, in an array of this shape."""
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    # Task 6.9: For index [7, 3, 7, 7], lanes 0 and 1 can go at once, then lane 2, then lane 3. `step` takes arrays:
    # old elements, and the lanes of these (of `lanes`). Fill `read` and change `buffer.data`, without a Python loop
    # over all lanes.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")
    return read.reshape(shape)
