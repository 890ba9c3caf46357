"""Reading and writing memory through many pointers at once, never outside of what an argument points to.

A pointer is an offset, in elements, from the one that the argument points to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.codegen.library.lazy import Affine, Array, Box, stored, together


class OutOfBounds(IndexError):
    """An access to what is not the argument's: to which element, and by which lane of the access.

    `program` and `place` ("file:line") are found by whoever runs the kernel.
    """

    def __init__(self, buffer: Buffer, element: int, lane: tuple[int, ...]) -> None:
        super().__init__(buffer, element, lane)
        self.buffer, self.element, self.lane = buffer, element, lane
        self.program: tuple[int, int, int] | None = None
        self.place = ""

    def __str__(self) -> str:
        name, count = self.buffer.name, self.buffer.data.size
        inside = 0 <= self.element + self.buffer.origin < count
        owned = "an element between those of the slice" if inside else f"outside of its {count} elements"
        where = f" by program {self.program}" if self.program else ""
        return f"{name}[{self.element}] is {owned}: accessed{where}" + (f" at {self.place}" if self.place else "")


def load(buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    """The elements at these offsets. Where the mask is false nothing is read, and the result is `other`, or 0.

    Raises `OutOfBounds`.
    """
    box = box_of(buffer, offset, mask, other)
    if box is not None:
        return load_slice(buffer, offset, box, other)
    index = checked(buffer, offset, mask)
    if mask is None:
        return np.take(buffer.data, index)
    lanes = np.broadcast(index, stored(mask), 0 if other is None else stored(other))
    table = {"index": index, "used": stored(mask), "other": 0 if other is None else stored(other)}
    table = {name: np.broadcast_to(column, lanes.shape) for name, column in table.items()}
    result = table["other"].astype(buffer.data.dtype)
    np.copyto(result, buffer.data[table["index"]] if buffer.data.size else result, where=table["used"].astype(bool))
    return result


def store(buffer: Buffer, offset: Array, value: Array, mask: Array | None = None) -> None:
    """Write to the elements at these offsets where the mask is true. Of several writes to one element one counts.

    Raises `OutOfBounds`, and then nothing has been written.
    """
    box = box_of(buffer, offset, mask, value)
    if box is not None:
        return store_slice(buffer, offset, value, box)
    index = checked(buffer, offset, mask)
    table = {"index": index, "value": stored(value), "used": True if mask is None else stored(mask)}
    shape = np.broadcast_shapes(*(np.shape(column) for column in table.values()))
    table = {name: np.broadcast_to(column, shape) for name, column in table.items()}
    used = table["used"]
    buffer.data[table["index"][used]] = table["value"][used]


def checked(buffer: Buffer, offset: Array, mask: Array | None) -> np.ndarray:
    """The indices into `buffer.data`, of the shape of `offset` and `mask` together; 0 where the mask is false.

    Raises `OutOfBounds` for the first index that is used but is not the buffer's.
    """
    index = np.add(stored(offset), buffer.origin, dtype=np.int64)
    used = np.asarray(True if mask is None else stored(mask))
    index, used = (np.array(x) for x in np.broadcast_arrays(index, used))
    gaps = np.zeros(buffer.data.size, bool) if buffer.gaps is None else buffer.gaps
    allowed = np.append(~gaps, False)  # the last one stands for all that is outside
    place = np.where((index >= 0) & (index < buffer.data.size), index, buffer.data.size)
    bad = np.argwhere(used & ~allowed[place])
    if len(bad):
        lane = tuple(bad[0].tolist())
        raise OutOfBounds(buffer, index[lane].item() - buffer.origin, lane)
    return np.where(used, index, 0)


# --- lazy offsets: slices


def box_of(buffer: Buffer, offset: Array, mask: Array | None, other: Array | None) -> Box | None:
    """The box of an access that slices of the memory can do; None if they cannot."""
    if not isinstance(offset, Affine) or buffer.gaps is not None:
        return None
    shape = together(offset, mask, other)
    box = Box.full(shape) if mask is None else Box.of(mask)
    wide = None if box is None else box.broadcast_to(shape)
    return wide if isinstance(wide, Box) else None


def load_slice(buffer: Buffer, offset: Affine, box: Box, other: Array | None) -> Array:
    """`load` of the elements in a box."""
    if box.is_full():
        return _sliced(buffer, offset, box)
    if box.rows is not None:
        chosen = box.chosen()
        if len(chosen):
            # The others read what the first one of the chosen reads, and it is thrown away: there is less to copy.
            everyone, others = np.full(len(box.rows), chosen[0]), np.ones(len(box.rows), bool)
            everyone[chosen], others[chosen] = chosen, False
            with _naming(everyone):
                result = load_slice(buffer, *_in_rows(offset, box, everyone), other)
            if not together(other):
                result[others] = 0 if other is None else other
            else:
                result[others] = np.broadcast_to(stored(other), box.shape)[others]
            return result
    result = np.full(box.shape, 0 if other is None else stored(other), buffer.data.dtype)
    if box.rows is None and not box.is_empty():
        result[box.slices()] = _sliced(buffer, offset, box)
    return result


def store_slice(buffer: Buffer, offset: Affine, value: Array, box: Box) -> None:
    """`store` to the elements in a box."""
    value = stored(value)
    if np.shape(value) != box.shape:
        value = np.broadcast_to(value, box.shape)
    if box.rows is not None:
        chosen = box.chosen()
        if len(chosen):
            offset, box = _in_rows(offset, box, chosen)
            with _naming(chosen):
                store_slice(buffer, offset, value[chosen], box)
    elif not box.is_empty():
        window, starts, sizes, order = _window(buffer, offset, box)
        value = value if box.is_full() else value[box.slices()]
        if starts is None:
            window[...] = value
        else:
            pairs = (n for size, start in zip(sizes, starts.shape, strict=True) for n in (start, size // start))
            window[starts] = value.reshape(tuple(pairs)).transpose(order)


def _in_rows(offset: Affine, box: Box, chosen: np.ndarray) -> tuple[Affine, Box]:
    """An access by some of the programs."""
    offset = offset.broadcast_to(box.shape).rows(chosen)
    return offset, Box(((0, len(chosen)), *box.ranges[1:]), (len(chosen), *box.shape[1:]))


@contextmanager
def _naming(chosen: np.ndarray) -> Iterator[None]:
    """An error of an access by some of the programs is to have the lane of the whole access."""
    try:
        yield
    except OutOfBounds as error:
        error.lane = (int(chosen[error.lane[0]]), *error.lane[1:])
        raise


def _sliced(buffer: Buffer, offset: Affine, box: Box) -> np.ndarray:
    """A copy of the elements in the box."""
    window, starts, sizes, order = _window(buffer, offset, box)
    if starts is None:
        return window.copy()
    return window[starts].transpose(np.argsort(order)).reshape(sizes)


def _window(buffer: Buffer, offset: Affine, box: Box) -> tuple[np.ndarray, np.ndarray | None, list[int], list[int]]:
    """The elements in the box as a view of memory, if all start at one place.

    If not, the view has one more axis: where to start. Then there is also the array of starts, and how the axes of
    `view[starts]` follow from those of the result: each is a pair of one of starts and one of strides.
    """
    offset = offset.broadcast_to(box.shape)
    rows = zip(box.ranges, offset.strides, strict=True)
    boxes = [(slice(first, end), end - first, stride * first) for (first, end), stride in rows]
    sizes = [size for _, size, _ in boxes]
    start = buffer.origin + offset.start + sum(moved for *_, moved in boxes)
    if isinstance(start, np.ndarray):
        start = start[tuple({1: slice(None)}.get(n, cut) for (cut, *_), n in zip(boxes, start.shape, strict=True))]
    lowest, highest = Affine(start, offset.strides, tuple(sizes), np.int64).bounds
    if not 0 <= lowest <= highest < buffer.data.size:
        checked(buffer, offset, box)
    itemsize, memory = buffer.data.itemsize, buffer.data.view(np.uint8)
    strides = tuple(stride * itemsize for stride in offset.strides)
    if not isinstance(start, np.ndarray):
        return np.ndarray(sizes, buffer.data.dtype, memory, start * itemsize, strides), None, sizes, []
    first, last = int(start.min()), int(start.max())
    inner = [size // n for size, n in zip(sizes, start.shape, strict=True)]
    shape, strides = (last - first + 1, *inner), (itemsize, *strides)
    order = [*range(0, 2 * len(sizes), 2), *range(1, 2 * len(sizes), 2)]
    return np.ndarray(shape, buffer.data.dtype, memory, first * itemsize, strides), start - first, sizes, order
