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
    # [task 6.9] If nobody wants what was read, and `function` is a ufunc: `function.at(array, index, values)` does one
    # element after the other, also when an index is there twice. Else let the lanes take turns.
    if isinstance(function, np.ufunc) and not result:
        function.at(buffer.data, index, values[lanes])
        return None
    return in_turns(buffer, index, lanes, shape, lambda old, now: function(old, values[now]))
    # [end]


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
    # [task 6.9] A float is compared by its bits, so that -0.0 is not 0.0, and a NaN may be expected.
    bits = f"i{buffer.data.itemsize}"

    def step(old: np.ndarray, now: np.ndarray) -> np.ndarray:
        return np.where(old.view(bits) == wanted[now].view(bits), values[now], old)

    return in_turns(buffer, index, lanes, shape, step)
    # [end]


def lanes_of(
    buffer: Buffer, offset: Array, shape: tuple[int, ...], mask: Array | None, *values: Array
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The access laid flat: the index of each lane that takes part, which lanes these are, the values of all lanes."""
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
    """Let every lane replace its element by `step(old, lane)`. Returns the old ones, in an array of this shape."""
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    # [task 6.9] Lanes with different elements can go at once; those that share one take turns. Sort the lanes by index
    # (stable, to keep their order), number those with the same index 0, 1, 2, ..., and let all with number 0 go first.
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])[: len(index)]
    turns = np.arange(len(index)) - np.repeat(starts, np.diff(np.r_[starts, len(index)]))
    for turn in range(int(turns.max(initial=-1)) + 1):
        now = order[turns == turn]
        old = buffer.data[index[now]]
        read[lanes[now]] = old
        buffer.data[index[now]] = step(old, lanes[now])
    # [end]
    return read.reshape(shape)
