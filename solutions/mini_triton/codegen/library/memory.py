"""Reading and writing memory through many pointers at once, never outside of what an argument points to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass
class Buffer:
    """The memory behind a pointer argument: `data`, of which element `origin` is the one pointed to."""

    name: str
    data: np.ndarray
    origin: int = 0


    def address(self, offset: Array) -> Array:
        """The address, in bytes, of the element at this offset."""
        base = self.data.__array_interface__["data"][0] + self.origin * self.data.itemsize
        return np.int64(base) + np.int64(self.data.itemsize) * offset

    def read_as(self, dtype: Any) -> Buffer:
        """The same memory as elements of another dtype."""
        dtype = np.dtype(dtype)
        return Buffer(self.name, self.data.view(dtype), self.origin * self.data.itemsize // dtype.itemsize)


class OutOfBounds(Exception):
    """A pointer that leads out of its buffer: which element it asks for, and which lane of the access asks."""

    def __init__(self, buffer: Buffer, element: int, lane: tuple[int, ...], place: str) -> None:
        super().__init__(buffer, element, lane, place)
        self.buffer, self.element, self.lane, self.place = buffer, element, lane, place


def load(buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None, place: str = "") -> Array:
    """The elements at these offsets. Where the mask is false nothing is read, and the result is `other`, or 0."""
    if mask is None:
        return buffer.data[checked(buffer, np.asarray(offset), None, place)]
    offset, mask = np.broadcast_arrays(offset, mask)
    index = checked(buffer, offset, mask, place)
    if not mask.any():
        values = np.zeros(mask.shape, buffer.data.dtype)
    else:
        values = buffer.data[index]
    return np.where(mask, values, np.zeros((), values.dtype) if other is None else other)


def store(buffer: Buffer, offset: Array, value: Array, mask: Array | None = None, place: str = "") -> None:
    """Write to the elements at these offsets where the mask is true. Of several writes to one element the last counts."""
    if mask is None:
        index = checked(buffer, np.asarray(offset), None, place)
        shape = np.broadcast_shapes(index.shape, np.shape(value))
        buffer.data[np.broadcast_to(index, shape)] = value
        return
    offset, value, mask = np.broadcast_arrays(offset, value, mask)
    index = checked(buffer, offset, mask, place)
    buffer.data[index[mask]] = value[mask]


def checked(buffer: Buffer, offset: np.ndarray, mask: np.ndarray | None, place: str) -> np.ndarray:
    """The indices into `data`; where the mask is false 0."""
    index = offset.astype(np.intp) + buffer.origin
    if mask is not None:
        index = np.where(mask, index, 0)
    if index.size and (index.min() < 0 or index.max() >= max(buffer.data.size, mask is not None and not mask.any())):
        bad = (index < 0) | (index >= buffer.data.size)
        bad = bad if mask is None else bad & mask
        lane = tuple(int(i) for i in np.unravel_index(np.argmax(bad), bad.shape))
        raise OutOfBounds(buffer, int(index[lane]) - buffer.origin, lane, place)
    return index
