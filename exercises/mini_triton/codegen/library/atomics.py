"""Atomic operations of many programs at once, with the results of sequential execution.

Any order of the programs is correct, because a GPU guarantees none. Here, programs are ordered by number.

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
    """Read memory, combine it with `value` by `name`, and write. Returns the old elements, 0 where the mask is false.

    `shape` is the shape of the access. Without `result`, nothing is returned, which is faster.
    """
    index, lanes, (values,) = lanes_of(buffer, offset, shape, mask, value)
    function = ATOMICS[name]
    # Task 6.9: If three lanes add 1, 2 and 3 to an element that holds 0, they read 0, 1 and 3. Given: `in_turns`,
    # below; a ufunc's `function.at(array, index, values)`, which also handles repeated indices, but returns nothing.
    # `lanes` holds the positions of the active lanes, in order; `index` holds the index that each of them accesses;
    # `values` holds a value for every lane.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def cas(
    buffer: Buffer,
    offset: Array,
    expected: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
) -> Array:
    """Compare and swap: write where memory holds the expected value. Returns the old elements."""
    index, lanes, (wanted, values) = lanes_of(buffer, offset, shape, mask, expected, value)
    # Task 6.9: Let an element hold 0. If three lanes expect 0, 0 and 1 there, and write 1, 1 and 2, they read 0, 1 and
    # 1. Floats are compared by their bits: -0.0 is not 0.0, and a NaN may be expected.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def lanes_of(
    buffer: Buffer, offset: Array, shape: tuple[int, ...], mask: Array | None, *values: Array
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The flattened access: the index of each active lane, the positions of these lanes, the values of all lanes."""
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
    """For every lane in turn, replace its element by `step(old, lane)`. Returns the old elements in this shape."""
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    # Task 6.9: For the index [7, 3, 7, 7], lanes 0 and 1 can run at once, then lane 2, then lane 3. `step` takes
    # arrays: old elements, and their lanes (from `lanes`). Fill `read` and update `buffer.data`, without a Python loop
    # over all lanes.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")
    return read.reshape(shape)
