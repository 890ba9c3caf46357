"""Atomic operations of many programs at once: as if one came after the other.

Any order of the programs is right, because a GPU promises none. Here it is that of their numbers.

Source: PTX ISA, "atom".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.codegen.library.memory import checked

UNSIGNED: dict[str, np.ufunc] = {"umax": np.maximum, "umin": np.minimum}
OPERATIONS: dict[str, np.ufunc] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "fadd": np.add,
    "max": np.maximum,
    "min": np.minimum,
}


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
    if name in UNSIGNED:
        buffer = Buffer(buffer.name, buffer.data.view(f"u{buffer.data.itemsize}"), buffer.origin, buffer.gaps)
        value = stored(value).view(buffer.data.dtype)
    index, lanes, (values,) = lanes_of(buffer, offset, shape, mask, value)
    ufunc = OPERATIONS.get(name) or UNSIGNED.get(name)
    if ufunc and not result:
        return ufunc.at(buffer.data, index, values[lanes])
    combine = ufunc or (lambda _, new: new)
    old = in_turns(buffer, index, lanes, shape, lambda old, now: combine(old, values[now]))
    return old.view(f"i{old.itemsize}") if name in UNSIGNED else old


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

    def words(x: np.ndarray) -> np.ndarray:
        return x.view(f"u{x.itemsize}")

    return in_turns(
        buffer,
        index,
        lanes,
        shape,
        lambda old, now: np.where(words(old) == words(wanted[now]), values[now], old),
    )


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

    def turns(waiting: np.ndarray) -> Iterator[np.ndarray]:
        while waiting.size:
            _, first = np.unique(index[waiting], return_index=True)
            yield waiting[first]
            waiting = np.delete(waiting, first)

    for now in turns(np.arange(len(index))):
        read[lanes[now]] = buffer.data[index[now]]
        buffer.data[index[now]] = step(read[lanes[now]], lanes[now])
    return read.reshape(shape)
