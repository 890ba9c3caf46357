"""Atomic operations of many programs at once: as if one came after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.codegen.library.exact import signed, unsigned
from mini_triton.codegen.library.memory import Array, Buffer, checked

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "fadd": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "umax": lambda x, y: signed(np.maximum(unsigned(x), unsigned(y)), x),
    "umin": lambda x, y: signed(np.minimum(unsigned(x), unsigned(y)), x),
    "exch": lambda x, y: y,
}


def rmw(
    name: str, buffer: Buffer, offset: Array, value: Array, shape: tuple[int, ...], mask: Array | None = None, place: str = ""
) -> Array:
    """Read, compute and write; the result is what was read. Lanes of one element follow one another in order."""
    compute = OPERATIONS[name]

    def step(old: Array, lanes: Any) -> Array:
        return compute(old, values[lanes])

    index, lanes, values = _prepared(buffer, offset, shape, mask, place, value)
    return _in_turns(buffer, index, lanes, shape, step)


def cas(
    buffer: Buffer, offset: Array, expected: Array, value: Array, shape: tuple[int, ...], mask: Array | None = None, place: str = ""
) -> Array:
    """Write where memory holds what is expected; the result is what it held."""

    def step(old: Array, lanes: Any) -> Array:
        return np.where(old == wanted[lanes], values[lanes], old)

    index, lanes, wanted, values = _prepared(buffer, offset, shape, mask, place, expected, value)
    return _in_turns(buffer, index, lanes, shape, step)


def _prepared(buffer: Buffer, offset: Array, shape: tuple[int, ...], mask: Array | None, place: str, *values: Array) -> Any:
    """Flat: the index of each lane that takes part, which lanes these are, and the values of all lanes."""
    taking = None if mask is None else np.broadcast_to(mask, shape)
    index = checked(buffer, np.broadcast_to(offset, shape), taking, place).ravel()
    lanes = np.arange(index.size) if taking is None else np.flatnonzero(taking)
    return index[lanes], lanes, *(np.broadcast_to(value, shape).ravel() for value in values)


def _in_turns(buffer: Buffer, index: Array, lanes: Array, shape: tuple[int, ...], step: Callable[[Array, Any], Array]) -> Array:
    """Let every lane take its step on its element. Lanes that share an element take turns, by their order."""
    read = np.zeros(int(np.prod(shape)), buffer.data.dtype)
    order = np.argsort(index, kind="stable")
    sorted_index = index[order]
    starts = np.flatnonzero(np.r_[True, sorted_index[1:] != sorted_index[:-1]]) if index.size else np.zeros(0, int)
    turn = np.arange(index.size) - np.repeat(starts, np.diff(np.r_[starts, index.size]))
    for t in range(int(turn.max(initial=-1)) + 1):
        now = order[turn == t]
        old = buffer.data[index[now]]
        read[lanes[now]] = old
        buffer.data[index[now]] = step(old, lanes[now])
    return read.reshape(shape)
