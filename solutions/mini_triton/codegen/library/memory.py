"""Reading and writing memory through many pointers at once, never outside an argument's memory.

A pointer is an offset, in elements, from the element to which the argument points.

Until task 6.10, offsets and masks are NumPy arrays, with or without axes, or NumPy scalars: `stored` returns them
unchanged, and `box_of` returns None. From task 6.10 on, offsets may be `Affine`, and masks may be `Box` or `Patched`:
lazy arrays, which a few numbers describe. `stored` computes the elements of a lazy array. `together` returns the shape
of arrays, lazy or not, that are broadcast together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mini_triton.codegen.library.lazy import Affine, Array, Box, Patched, stored, together
from mini_triton.codegen.library.lazy.array import Shape
from mini_triton.ir.storage import Buffer, OutOfBounds


def load(buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
    """The elements at these offsets. Where the mask is false, nothing is read, and the result is `other`, by default 0.

    Without a mask, `other` is None. Raises `OutOfBounds` as `checked` does.
    """
    box = box_of(buffer, offset, mask, other)
    if box is not None:
        return load_slice(buffer, offset, box, other)
    patched = patched_mask(buffer, offset, mask, other)
    if patched is not None:
        return load_patched(buffer, offset, patched, other)
    if buffer.constant and leads_inside(buffer, offset):
        return load_constants(buffer, offset, mask, other)
    # [task 6.3] For the memory [1.5, 2.5, 3.5], offsets [0, 1, 2], mask [True, False, True] and other 7, return [1.5,
    # 7, 3.5]. `offset`, `mask` and `other` are broadcast together. The result has the dtype of the buffer, and is a new
    # array, because memory may change later. Given: `checked`, below; `together`, which returns the shape of arrays
    # broadcast together; `stored`.
    index = checked(buffer, offset, mask)
    if mask is None:
        return buffer.data[index]
    shape = together(index, other)
    index, mask = np.broadcast_to(index, shape), np.broadcast_to(stored(mask), shape)
    result = np.full(shape, 0 if other is None else stored(other), buffer.data.dtype)
    result[mask] = buffer.data[index[mask]]
    return result
    # [end]


def leads_inside(buffer: Buffer, offset: Array) -> bool:
    """Whether every offset in an array, masked off or not, is within the bounds of the buffer. (Given.)"""
    index = stored(offset)
    if buffer.gaps is not None or not index.ndim or not index.size:
        return False
    return bool(index.min() + buffer.origin >= 0 and index.max() + buffer.origin < buffer.data.size)


def load_constants(buffer: Buffer, offset: Array, mask: Array | None, other: Array | None) -> Array:
    """`load` from memory to which no program writes, at offsets that are all in bounds. (Given.)"""
    result = buffer.data.take(stored(offset) + buffer.origin if buffer.origin else stored(offset))
    if mask is not None:
        shape = together(offset, mask, other)
        result = result if result.shape == shape else np.broadcast_to(result, shape).copy()
        np.copyto(result, 0 if other is None else stored(other), where=~stored(mask), casting="unsafe")
    return result


def store(buffer: Buffer, offset: Array, value: Array, mask: Array | None = None) -> None:
    """Write `value` to the elements at these offsets where the mask is true.

    If several lanes write to the same element, the element keeps one of their values. Raises `OutOfBounds` as `checked`
    does; in this case, nothing is written.
    """
    box = box_of(buffer, offset, mask, value)
    if box is not None:
        return store_slice(buffer, offset, value, box)
    patched = patched_mask(buffer, offset, mask, value)
    if patched is not None:
        return store_patched(buffer, offset, value, patched)
    # [task 6.3] Offsets [0, 1, 2], value 7 and mask [True, False, True] write 7 to elements 0 and 2. `offset`, `value`
    # and `mask` are broadcast together. Given: the same functions as for `load`.
    value = stored(value)
    shape = together(offset, value, mask)
    index = np.broadcast_to(checked(buffer, offset, mask), shape)
    value = np.broadcast_to(value, shape)
    if mask is None:
        buffer.data[index] = value
    else:
        mask = np.broadcast_to(mask, shape)
        buffer.data[index[mask]] = value[mask]
    # [end]


def checked(buffer: Buffer, offset: Array, mask: Array | None) -> np.ndarray:
    """Indices into `buffer.data`, in the common shape of `offset` and `mask`; 0 where the mask is false.

    Offsets count from `buffer.origin`. Raises `OutOfBounds(buffer, offset, lane)` for the first active lane whose index
    is out of bounds. An index is out of bounds if it is negative, too large, or the index of an element where
    `buffer.gaps` (a mask of `buffer.data`, or None) is true.
    """
    # [task 6.3] For a buffer of four elements, offsets [0, 9] and mask [True, False], return [0, 0]. Without the mask,
    # raise `OutOfBounds(buffer, 9, (1,))`, with Python integers.
    index = np.asarray(offset).astype(np.int64) + buffer.origin
    if mask is not None:
        mask = np.asarray(mask)
        index = np.where(mask, index, 0)
    used = np.True_ if mask is None else np.broadcast_to(mask, index.shape)
    bad = used & ((index < 0) | (index >= buffer.data.size))
    if buffer.gaps is not None and not bad.any() and used.any():
        bad = used & buffer.gaps[index]
    if bad.any():
        lane = np.unravel_index(np.argmax(bad), bad.shape)
        raise OutOfBounds(buffer, int(index[lane]) - buffer.origin, tuple(map(int, lane)))
    return index
    # [end]


# --- lazy offsets: slices


def box_of(buffer: Buffer, offset: Array, mask: Array | None, other: Array | None) -> Box | None:
    """The box of an access that can be performed with slices of the memory, or None."""
    if not isinstance(offset, Affine) or buffer.gaps is not None:
        return None
    shape = together(offset, mask, other)
    box = Box.full(shape) if mask is None else Box.of(mask)
    wide = None if box is None else box.broadcast_to(shape)
    return wide if isinstance(wide, Box) else None


def patched_mask(buffer: Buffer, offset: Array, mask: Array | None, other: Array | None) -> Patched | None:
    """The mask of an access whose rows, but for a few, can be performed with slices of the memory; otherwise, None."""
    if not isinstance(mask, Patched) or not isinstance(offset, Affine) or buffer.gaps is not None:
        return None
    wide = mask.broadcast_to(together(offset, mask, other))
    return wide if isinstance(wide, Patched) else None


def load_patched(buffer: Buffer, offset: Affine, mask: Patched, other: Array | None) -> Array:
    """`load` of the elements in a box, and of those in the few other rows."""
    result = np.empty(mask.shape, buffer.data.dtype)
    try:
        for rows, some, (offset_there, other_there) in mask.parts(offset, other):
            result[rows] = load(buffer, offset_there, some, other_there)
    except OutOfBounds:
        checked(buffer, offset, mask)  # raises the error of the first lane
    return result


def store_patched(buffer: Buffer, offset: Affine, value: Array, mask: Patched) -> None:
    """`store` to the elements in a box, and to those in the few other rows."""
    parts = list(mask.parts(offset, value))
    _, box, (there, _) = parts[-1]
    try:
        if not box.is_empty():
            indices(buffer, there, box)  # an error must precede every write
        for _, some, (offset_there, value_there) in parts:
            store(buffer, offset_there, value_there, some)
    except OutOfBounds:
        checked(buffer, offset, mask)


def load_slice(buffer: Buffer, offset: Affine, box: Box, other: Array | None) -> Array:
    """`load` of the elements in a box."""
    if box.is_full():
        return _sliced(buffer, offset, box)
    if box.rows is not None:
        chosen = box.chosen()
        if len(chosen) == len(box.rows):
            return load_slice(buffer, offset, Box(box.ranges, box.shape), other)
        if len(chosen):
            # Rows that are not chosen read what the first chosen row reads, and are overwritten below.
            everyone, others = np.full(len(box.rows), chosen[0]), np.ones(len(box.rows), bool)
            everyone[chosen], others[chosen] = chosen, False
            with _naming(everyone):
                result = np.array(load_slice(buffer, *_in_rows(offset, box, everyone), other))
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
    """The offset and the box of the access by the chosen programs."""
    offset = offset.broadcast_to(box.shape).only(chosen)
    return offset, Box(((0, len(chosen)), *box.ranges[1:]), (len(chosen), *box.shape[1:]))


@contextmanager
def _naming(chosen: np.ndarray) -> Iterator[None]:
    """In an error, convert the lane of the chosen programs' access to the lane of the whole access."""
    try:
        yield
    except OutOfBounds as error:
        error.lane = (int(chosen[error.lane[0]]), *error.lane[1:])
        raise


def _sliced(buffer: Buffer, offset: Affine, box: Box) -> np.ndarray:
    """The elements in the box: a copy, unless no program writes to this memory."""
    window, starts, sizes, order = _window(buffer, offset, box)
    if starts is None:
        return window if buffer.constant else window.copy()
    if starts.size == starts.shape[0] == sizes[0]:  # one tile for each program
        return window[:, 0][starts.ravel()]
    return window[starts].transpose(np.argsort(order)).reshape(sizes)


def _window(buffer: Buffer, offset: Affine, box: Box) -> tuple[np.ndarray, np.ndarray | None, Shape, list[int]]:
    """A view of memory that contains the elements in the box; the starts; the sizes of the box; and a permutation.

    If all programs start at the same offset, the view has the shape of the box, and the starts are None. Otherwise, the
    view has an additional first axis, and the starts are indices along it. For each axis of the box, `view[starts]` has
    an axis of starts, and an axis of the elements that share a start; all axes of starts come first. If a value has the
    two axes of each pair side by side, the permutation transposes it to this order. You need only `indices` and `view`.
    """
    index = indices(buffer, offset.broadcast_to(box.shape), box)
    start, sizes = index.start, index.shape
    if not isinstance(start, np.ndarray):
        return view(buffer, index), None, sizes, []
    first, last = int(start.min()), int(start.max())
    inner = [size // n for size, n in zip(sizes, start.shape, strict=True)]
    window = Affine(first, (1, *index.strides), (last - first + 1, *inner), np.int64)
    order = [*range(0, 2 * len(sizes), 2), *range(1, 2 * len(sizes), 2)]
    return view(buffer, window), start - first, sizes, order


def indices(buffer: Buffer, offset: Affine, box: Box) -> Affine:
    """The indices into `buffer.data` of the elements in a box that is not empty; the box has no `rows`.

    The offsets have the shape of the box's mask. Raises `OutOfBounds` as `checked` does.
    """
    # [task 6.11] For offsets 100 + 8 * i + j, a buffer with origin 0 and the box ((2, 4), (1, 5)), return start 117,
    # strides (8, 1) and shape (2, 4). `offset.start` may be an array. Call `checked`, which computes an index for every
    # lane, only if an index is out of bounds.
    start = offset.start + buffer.origin
    if isinstance(start, np.ndarray):
        start = start[tuple(slice(*r) if n > 1 else slice(None) for r, n in zip(box.ranges, start.shape, strict=True))]
    start = start + sum(stride * first for stride, (first, _) in zip(offset.strides, box.ranges, strict=True))
    index = Affine(start, offset.strides, tuple(end - first for first, end in box.ranges), np.int64)
    low, high = index.bounds
    if low < 0 or high >= buffer.data.size:
        checked(buffer, offset, box)
    return index
    # [end]


def view(buffer: Buffer, index: Affine) -> np.ndarray:
    """The elements of `buffer.data` at these indices, without a copy; `index.start` is a number.

    All indices are in bounds. `buffer.data` is contiguous. NumPy makes such views: see
    `np.lib.stride_tricks.as_strided`.
    """
    # [task 6.11] For the elements 10, 11, 12, ... and the indices 5 - 2 * i + j of shape (3, 2), return [[15, 16], [13,
    # 14], [11, 12]]. A change of the result changes memory.
    itemsize, memory = buffer.data.itemsize, buffer.data.view(np.uint8)  # `np.ndarray` refuses memory of bf16
    strides = tuple(stride * itemsize for stride in index.strides)
    return np.ndarray(index.shape, buffer.data.dtype, memory, index.start * itemsize, strides)
    # [end]
