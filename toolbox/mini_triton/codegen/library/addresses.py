"""Memory accesses by address, for pointers that may point into any argument. (Given.)

An address must point into memory that the launch knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.library import atomics, memory
from mini_triton.codegen.library.lazy import Array, stored, together
from mini_triton.ir.storage import Buffer, reach


def parts(
    buffers: Sequence[Buffer], address: Array, mask: Array | None, shape: Any = ()
) -> Iterator[tuple[Buffer, Array, Array]]:
    """Each buffer that is accessed, the offsets into it, and the mask of the lanes that access it."""
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
    return _each(functools.partial(atomics.rmw, name), buffers, address, (value,), shape, mask)


def cas(
    buffers: Sequence[Buffer], address: Array, expected: Array, value: Array, shape: Any, mask: Array | None = None
) -> Array:
    """See `atomics.cas`."""
    return _each(atomics.cas, buffers, address, (expected, value), shape, mask)


def _each(
    access: Callable[..., Any],
    buffers: Sequence[Buffer],
    address: Array,
    values: Sequence[Array],
    shape: Any,
    mask: Array | None,
) -> Array:
    """The results of an atomic access, computed for one buffer after the other."""
    result = np.zeros(shape, buffers[0].data.dtype)
    for buffer, offset, inside in parts(buffers, address, mask, shape):
        result = np.where(inside, access(buffer, offset, *values, shape, inside), result)
    return result
