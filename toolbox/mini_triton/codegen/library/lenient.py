"""Out-of-bounds accesses that do not stop a kernel: loads return 0 or `other`, and stores write nothing. (Given.)

A `Lenient` replaces the module `memory`, `addresses` or `atomics` in generated code. Accesses in bounds cost nothing
extra: each access is first tried unchanged, and the library raises `OutOfBounds` before it writes anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.ir.storage import Buffer, OutOfBounds

Note = Callable[[OutOfBounds, bool, int, FrameType], None]
"""Takes the first error, whether the access writes, how many lanes are out of bounds, and the access's frame."""


class Lenient:
    """A module of the library whose functions report out-of-bounds lanes to `note`, and ignore them."""

    def __init__(self, module: ModuleType, note: Note) -> None:
        self.module: Any = module
        self.note = note

    def load(self, memory: Any, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
        try:
            return self.module.load(memory, offset, mask, other=other)
        except OutOfBounds as error:
            inside = self.inside(error, memory, offset, mask, False)
            return self.module.load(memory, offset, inside, other=other)

    def store(self, memory: Any, offset: Array, value: Array, mask: Array | None = None) -> None:
        try:
            self.module.store(memory, offset, value, mask)
        except OutOfBounds as error:
            self.module.store(memory, offset, value, self.inside(error, memory, offset, mask, True))

    def rmw(
        self,
        name: str,
        memory: Any,
        offset: Array,
        value: Array,
        shape: Any,
        mask: Array | None = None,
        **keywords: Any,
    ) -> Array:
        try:
            return self.module.rmw(name, memory, offset, value, shape, mask, **keywords)
        except OutOfBounds as error:
            inside = self.inside(error, memory, np.broadcast_to(stored(offset), shape), mask, True)
            return self.module.rmw(name, memory, offset, value, shape, inside, **keywords)

    def cas(
        self, memory: Any, offset: Array, expected: Array, value: Array, shape: Any, mask: Array | None = None
    ) -> Array:
        try:
            return self.module.cas(memory, offset, expected, value, shape, mask)
        except OutOfBounds as error:
            inside = self.inside(error, memory, np.broadcast_to(stored(offset), shape), mask, True)
            return self.module.cas(memory, offset, expected, value, shape, inside)

    def inside(self, error: OutOfBounds, memory: Any, offset: Array, mask: Array | None, writes: bool) -> np.ndarray:
        """The mask of the lanes whose accesses are in bounds. Reports out-of-bounds lanes to `note`."""
        used = np.asarray(True if mask is None else stored(mask))
        inside = used & (within(memory, offset) if isinstance(memory, Buffer) else known(memory, offset))
        outside = int(np.count_nonzero(used & ~inside))
        self.note(error, writes, outside, sys._getframe(2))
        return inside


def within(buffer: Buffer, offset: Array) -> np.ndarray:
    """The mask of the offsets that lead to elements of the buffer."""
    index = np.asarray(stored(offset)).astype(np.int64) + buffer.origin
    inside = (index >= 0) & (index < buffer.data.size)
    return inside if buffer.gaps is None or not inside.any() else inside & ~buffer.gaps[np.where(inside, index, 0)]


def known(buffers: Sequence[Buffer], address: Array) -> np.ndarray:
    """The mask of the addresses that lead to elements of one of the buffers."""
    found = np.zeros(np.shape(address), bool)
    for buffer in buffers:
        found |= within(buffer, (stored(address) - buffer.address(0)) // buffer.data.itemsize)
    return found
