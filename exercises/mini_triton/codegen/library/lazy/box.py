"""Masks that are true in a box of the array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy.array import Array, Lazy, Shape, common, stored, whole, with_ones


class Box(Lazy):
    """A mask that is true in a box: from `ranges[axis][0]` up to, but not including, `ranges[axis][1]` along each axis.

    Every empty range is (0, 0). `rows` may be a mask along the first axis. Where `rows` is false, all elements of the
    row are false.
    """

    dtype = np.dtype(bool)

    def __init__(self, ranges: tuple[tuple[int, int], ...], shape: Shape, rows: np.ndarray | None = None) -> None:
        self.ranges, self.shape, self.rows = ranges, shape, rows

    @staticmethod
    def full(shape: Shape, rows: np.ndarray | None = None) -> Box:
        """A mask that is true everywhere, or in these rows."""
        return Box(whole(shape), shape, rows)

    @staticmethod
    def of(mask: Any) -> Box | None:
        """A mask as a box, if it is one, or if it varies only along its first axis."""
        if isinstance(mask, Box):
            return mask
        if isinstance(mask, np.ndarray) and mask.ndim and mask.size == mask.shape[0]:
            return Box.full(mask.shape, mask.ravel())
        return None

    def slices(self) -> tuple[slice, ...]:
        """The index that selects the box from an array of the same shape."""
        return tuple(slice(*bounds) for bounds in self.ranges)

    def chosen(self) -> np.ndarray:
        """The positions along the first axis that are in the box and in `rows`, which is not None."""
        first, end = self.ranges[0]
        assert self.rows is not None
        return first + np.flatnonzero(self.rows[first:end])

    def is_full(self) -> bool:
        """Whether the mask is true everywhere."""
        return self.rows is None and self.ranges == whole(self.shape)

    def is_empty(self) -> bool:
        """Whether the box is empty in every row."""
        return any(start == end for start, end in self.ranges)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        result = np.zeros(self.shape, bool)
        result[self.slices()] = True
        if self.rows is not None:
            result[~self.rows] = False
        return result.astype(dtype or bool, copy=False)

    def with_axes(self, places: Sequence[int]) -> Lazy:
        if self.rows is not None and 0 in places:
            return stored(self)[tuple(None if i in places else slice(None) for i in range(self.ndim + len(places)))]
        return Box(with_ones(self.ranges, places, (0, 1)), with_ones(self.shape, places, 1), self.rows)

    def broadcast_to(self, shape: Shape) -> Any:
        if shape == self.shape:
            return self
        if self.is_full():
            return Box.full(common(self.shape, shape))
        lifted = self.with_axes(range(len(shape) - self.ndim))
        if not isinstance(lifted, Box):
            return np.broadcast_to(lifted, shape)
        shape = common(lifted.shape, shape)
        sizes = zip(lifted.ranges, lifted.shape, shape, strict=True)
        ranges = tuple(r if old == new else (0, new * r[1]) for r, old, new in sizes)
        rows = None if lifted.rows is None else np.broadcast_to(lifted.rows, shape[:1])
        return Box(ranges, shape, rows)

    def only(self, chosen: np.ndarray) -> Array:
        if self.rows is not None or self.ranges[0] != (0, self.shape[0]):
            return super().only(chosen)
        return Box(((0, len(chosen)), *self.ranges[1:]), (len(chosen), *self.shape[1:]))

    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        """The mask `x & y`: if one mask is true everywhere, the other; if both are boxes, a box; otherwise None."""
        if ufunc is not np.bitwise_and:
            return None
        if isinstance(x, Box) and isinstance(y, Box) and x.is_full() and y.is_full():
            return Box.full(common(x.shape, y.shape))
        for box, other in ((x, y), (y, x)):
            if isinstance(box, Box) and box.is_full() and common(box.shape, np.shape(other)) == np.shape(other):
                return other
        if isinstance(y, Lazy) and not isinstance(y, Box):
            return y.lazily(ufunc, x, y)
        a, b = Box.of(x), Box.of(y)
        if a is None or b is None:
            return None
        shape = common(a.shape, b.shape)
        a, b = a.broadcast_to(shape), b.broadcast_to(shape)
        if not (isinstance(a, Box) and isinstance(b, Box)):
            return None
        # Task 6.10: Return the mask that is true where both `a` and `b` are. Both have the shape `shape`. The ranges
        # ((0, 8), (2, 6)) and ((4, 8), (0, 4)) give ((4, 8), (2, 4)).
        raise NotImplementedError("Task 6.10: Lazy positions and masks")
