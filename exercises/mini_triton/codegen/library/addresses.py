"""Memory by address, for pointers of which it is not known which argument they lead into. (Given.)

An address may lead into any memory that the launch knows, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.library import atomics, memory
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.codegen.library.lazy import Array, stored, together


def parts(buffers: Sequence[Buffer], address: Array, mask: Array | None) -> Iterator[tuple[Buffer, Array, Array]]:
    """Each buffer that is accessed, the offsets into it, and the lanes that do so."""
    address = stored(address)
    mask = np.True_ if mask is None else stored(mask)
    missing = np.broadcast_to(mask, together(address, mask)).copy()
    for buffer in buffers:
        inside = missing & (address >= buffer.start) & (address < buffer.end)
        if inside.any():
            missing &= ~inside
            yield buffer, (address - buffer.start) // buffer.data.itemsize - buffer.origin, inside
    if missing.any():
        lane = np.unravel_index(np.argmax(missing), missing.shape)
        nowhere = Buffer("memory", np.zeros(0, np.int8))
        raise memory.OutOfBounds(nowhere, int(np.broadcast_to(address, missing.shape)[lane]), tuple(map(int, lane)))


def load(buffers: Sequence[Buffer], address: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    """See `memory.load`."""
    loaded = [memory.load(*part, other=other) for part in parts(buffers, address, mask)]
    masks = [inside for *_, inside in parts(buffers, address, mask)]
    shape = together(address, mask)
    result = np.zeros(shape, buffers[0].data.dtype)
    if other is not None:
        result[...] = other
    for values, inside in zip(loaded, masks, strict=True):
        result[inside] = values[inside]
    return result


def store(buffers: Sequence[Buffer], address: Array, value: Array, mask: Array | None = None) -> None:
    """See `memory.store`."""
    shape = together(address, value, mask)
    for buffer, offset, inside in list(parts(buffers, np.broadcast_to(stored(address), shape), mask)):
        memory.store(buffer, offset, value, inside)


def rmw(
    name: str, buffers: Sequence[Buffer], address: Array, value: Array, shape: Any, mask: Array | None = None
) -> Array:
    """See `atomics.rmw`."""

    def one(buffer: Buffer, offset: Array, inside: Array) -> Array:
        return atomics.rmw(name, buffer, offset, value, shape, inside)

    return _each(buffers, address, shape, mask, one)


def cas(
    buffers: Sequence[Buffer], address: Array, expected: Array, value: Array, shape: Any, mask: Array | None = None
) -> Array:
    """See `atomics.cas`."""

    def one(buffer: Buffer, offset: Array, inside: Array) -> Array:
        return atomics.cas(buffer, offset, expected, value, shape, inside)

    return _each(buffers, address, shape, mask, one)


def _each(
    buffers: Sequence[Buffer],
    address: Array,
    shape: Any,
    mask: Array | None,
    call: Callable[[Buffer, Array, Array], Array],
) -> Array:
    result = np.zeros(shape, buffers[0].data.dtype)
    for buffer, offset, inside in list(parts(buffers, np.broadcast_to(stored(address), shape), mask)):
        result = np.where(inside, call(buffer, offset, inside), result)
    return result
