"""Memory by address, for pointers of which it is not known which argument they lead into. (Given.)

An address may lead into any memory that the launch knows, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.library import atomics, memory
from mini_triton.codegen.library.lazy import Array, stored, together
from mini_triton.ir.storage import Buffer, reach


def parts(
    buffers: Sequence[Buffer], address: Array, mask: Array | None, shape: Any = ()
) -> Iterator[tuple[Buffer, Array, Array]]:
    """Each buffer that is accessed, the offsets into it, and the lanes that do so."""
    for buffer, index, lanes in list(reach(buffers, stored(address), True if mask is None else stored(mask), shape)):
        yield buffer, index - buffer.origin, lanes


def load(buffers: Sequence[Buffer], address: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    """See `memory.load`."""
    result = np.full(together(address, mask, other), 0 if other is None else stored(other), buffers[0].data.dtype)
    for buffer, offset, inside in parts(buffers, address, mask, result.shape):
        result[inside] = memory.load(buffer, offset, inside)[inside]
    return result


def store(buffers: Sequence[Buffer], address: Array, value: Array, mask: Array | None = None) -> None:
    """See `memory.store`."""
    shape = together(address, value, mask)
    for buffer, offset, inside in parts(buffers, address, mask, shape):
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
    for buffer, offset, inside in parts(buffers, address, mask, shape):
        result = np.where(inside, call(buffer, offset, inside), result)
    return result
