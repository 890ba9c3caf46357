"""Atomic operations of many programs at once. The results are those of a sequential execution.

Any order of the programs is correct, because a GPU does not guarantee an order. This library orders programs by number.

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
    """Combine elements of memory with `value` by the operation `name`. Returns the old elements.

    Where the mask is false, the result is 0. `shape` is the shape of the access. If `result` is false, nothing uses
    the old elements, so the function may return None, which is faster.
    """
    index, lanes, (values,) = lanes_of(buffer, offset, shape, mask, value)
    function = ATOMICS[name]
    # Task 6.9: If three lanes add 1, 2 and 3 to an element that holds 0, they read 0, 1 and 3, or the values of
    # another order. Given: `in_turns`, below; if `function` is a ufunc, `function.at(array, index, values)`, which
    # handles repeated indices correctly but returns None. `lanes` holds the positions of the active lanes, in order;
    # `index` holds the index that each active lane accesses; `values` holds a value for every lane.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def cas(
    buffer: Buffer,
    offset: Array,
    expected: Array,
    value: Array,
    shape: tuple[int, ...],
    mask: Array | None = None,
) -> Array:
    """Compare and swap: write `value` where memory holds `expected` and the mask is true.

    Returns the old elements. Where the mask is false, the result is 0.
    """
    index, lanes, (wanted, values) = lanes_of(buffer, offset, shape, mask, expected, value)
    # Task 6.9: If an element holds 0, and three lanes expect 0, 0 and 1, with the new values 1, 1 and 2, the lanes
    # read 0, 1 and 1, or the values of another order. Floats are compared by their bits: -0.0 is not equal to 0.0, and
    # a NaN is equal to a NaN with the same bits.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")


def lanes_of(
    buffer: Buffer, offset: Array, shape: tuple[int, ...], mask: Array | None, *values: Array
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The flattened access: the index and the position of each active lane, and the values of all lanes."""
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
    """Lane by lane, replace the lane's element by `step(old, lane)`. Returns the old elements in the given `shape`."""
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    # Task 6.9: For the index [7, 3, 7, 7], lanes 0 and 1 can run at once, then lane 2, then lane 3. Any order of the
    # lanes that share an element is correct. `step` takes two arrays: old elements, and the lanes (entries of `lanes`)
    # that access them. Fill `read` and update `buffer.data`, without a Python loop over all lanes.
    raise NotImplementedError("Task 6.9: Atomics, and waiting")
    return read.reshape(shape)
