"""Masks that are a box, except in a few rows. (Given.)

In the mask `offsets < n`, only the last program's row is not full. Therefore, almost all rows of a load are slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy.array import Array, Lazy, Shape, broadcast_to, common, rows, stored, together
from mini_triton.codegen.library.lazy.box import Box


class Patched(Lazy):
    """A mask that equals `box`, except in the rows `at`, where it equals `patch`.

    `at` are ascending indices along the first axis, and `box` is full along this axis.
    """

    dtype = np.dtype(bool)

    def __init__(self, box: Box, at: np.ndarray, patch: Array) -> None:
        self.box, self.at, self.patch, self.shape = box, at, patch, box.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        result = np.asarray(self.box)
        result[self.at] = self.patch
        return result.astype(dtype or bool, copy=False)

    def with_axes(self, places: Sequence[int]) -> Array:
        keys = tuple(None if place in places else slice(None) for place in range(self.ndim + len(places)))
        return stored(self)[keys] if 0 in places else Patched(self.box[keys], self.at, self.patch[keys])

    def broadcast_to(self, shape: Shape) -> Any:
        shape = common(self.shape, shape)
        if len(shape) > self.ndim:
            return np.broadcast_to(stored(self), shape)
        return Patched(self.box.broadcast_to(shape), self.at, broadcast_to(self.patch, (len(self.at), *shape[1:])))

    def only(self, chosen: np.ndarray) -> Array:
        places = np.flatnonzero(np.isin(chosen, self.at))
        box, patch = self.box.only(chosen), rows(self.patch, np.searchsorted(self.at, chosen[places]))
        if not places.size:
            return box
        return patch if len(places) == len(chosen) else Patched(box, places, patch)

    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        """The mask `x & y`, if both are boxes outside a few rows; otherwise None."""
        if ufunc is not np.bitwise_and:
            return None
        a, b = (broadcast_to(mask, together(x, y)) for mask in (x, y))
        box = getattr(a, "box", a) & getattr(b, "box", b)
        if not isinstance(box, Box) or box.rows is not None or box.ranges[0] != (0, box.shape[0]):
            return None
        patched = [mask.at for mask in (a, b) if isinstance(mask, Patched)]
        at = patched[0] if len(patched) == 1 else np.union1d(*patched)
        parts = (mask.only(at) for mask in (a, b))
        patch = np.bitwise_and(*(stored(mask) if isinstance(mask, Patched) else mask for mask in parts))
        return Patched(box, at, patch) if len(at) < box.shape[0] else patch

    def parts(self, *arrays: Any) -> Iterator[tuple[np.ndarray, Array, list[Any]]]:
        """The patched rows and all other rows: their indices, their mask, and these rows of arrays, or of None.

        The arrays are scalars, or can be broadcast to the shape of the mask.
        """
        others = np.ones(self.shape[0], bool)
        others[self.at] = False
        wide = [broadcast_to(array, self.shape) if np.ndim(array) else array for array in arrays]
        for chosen in (self.at, np.flatnonzero(others)):
            mask = self.patch if chosen is self.at else self.box.only(chosen)
            yield chosen, mask, [rows(array, chosen) if np.ndim(array) else array for array in wide]


def compared_by_rows(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Patched | None:
    """The mask `compare(a, b)` of two `Affine`, if most of its rows are full; otherwise, None."""
    difference = a.minus(b)
    if difference is None or not difference.shape or difference.size == difference.shape[0]:
        return None
    starts, (stride, *strides), (count, *sizes) = difference.start, difference.strides, difference.shape
    varies = isinstance(starts, np.ndarray)
    if not any(strides) or varies and starts.size != count:
        return None  # rows are full or empty, or the starts vary in a row
    extreme = min if compare(1, 0) else max  # the element of a row that decides whether the row is full
    end = sum([extreme(stride * (size - 1), 0) for stride, size in zip(strides, sizes, strict=True)])
    full = compare((starts.reshape(-1) if varies else starts + stride * np.arange(count)) + end, 0)
    (at,) = (~full).nonzero()
    if 2 * len(at) > count:
        return None
    if np.count_nonzero(strides) == 1:  # the patch may be a box
        patch = compare(difference.only(at).astype(np.int64), 0)
    else:
        patch = compare(*(stored(x.only(at) if x.shape[: -len(sizes)] == (count,) else x) for x in (a, b)))
    return Patched(Box.full(difference.shape), at, patch)
