"""Atomic operations of many programs at once: as if one came after the other.

Any order of the programs is right, because a GPU promises none. Here it is that of their numbers.

Source: PTX ISA, "atom".
"""

from __future__ import annotations

from collections.abc import Callable

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
    steps = {None: lambda old, now: values[now]}
    step = steps.get(ufunc) or (lambda old, now: ufunc(old, values[now]))
    if result or ufunc is None:
        old = in_turns(buffer, index, lanes, shape, step)
    else:
        ufunc.at(buffer.data, index, values[lanes])
        return None
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
    bits = np.dtype({1: "u1", 2: "u2", 4: "u4", 8: "u8"}[buffer.data.itemsize])
    choices = {True: values, False: None}

    def step(old: np.ndarray, now: np.ndarray) -> np.ndarray:
        equal = old.view(bits) == wanted.view(bits)[now]
        return np.select([equal], [choices[True][now]], old)

    return in_turns(buffer, index, lanes, shape, step)


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
    queues: dict[int, list[int]] = {}
    for place, element in enumerate(index.tolist()):
        queues.setdefault(element, []).append(place)
    turns: dict[int, list[int]] = {}
    for queue in queues.values():
        for turn, place in enumerate(queue):
            turns.setdefault(turn, []).append(place)
    for turn in sorted(turns):
        elements, who = index[turns[turn]], lanes[turns[turn]]
        read[who] = buffer.data[elements]
        buffer.data[elements] = step(read[who], who)
    return read.reshape(shape)
