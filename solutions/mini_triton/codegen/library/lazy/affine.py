"""Integers that are equally spaced along each axis."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy.array import Array, Lazy, Shape, common, stored, with_ones
from mini_triton.codegen.library.lazy.box import Box
from mini_triton.codegen.library.lazy.patched import compared_by_rows

COMPARISONS: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}
"""Python's comparisons: Python compares two Python integers ten times as fast as NumPy does."""
LIMIT = 2**61  # sums of two numbers below this limit fit in int64


class Affine(Lazy):
    """The integers `start + stride[0] * i + stride[1] * j + ...` at index (i, j, ...).

    `start` is a Python integer, or an array of `int64` with `len(shape)` axes, most of them of size 1. If the size of
    that array along an axis is not 1, the stride along this axis is 0.
    """

    def __init__(
        self, start: Any, strides: Shape, shape: Shape, dtype: Any, known_bounds: tuple[int, int] | None = None
    ) -> None:
        self.start, self.strides, self.shape, self.dtype = start, strides, shape, np.dtype(dtype)
        self.known_bounds = known_bounds

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        result = np.asarray(self.start, np.int64)
        for axis, (stride, size) in enumerate(zip(self.strides, self.shape, strict=True)):
            if stride:
                steps = stride * np.arange(size, dtype=np.int64)
                result = result + steps.reshape(-1, *(1,) * (self.ndim - 1 - axis))
        wide = np.empty(self.shape, dtype or self.dtype)
        wide[...] = result
        return wide

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest element."""
        if self.known_bounds is None:
            self.known_bounds = self.corners()
        return self.known_bounds

    def corners(self) -> tuple[int, int]:
        """The smallest and the largest element, found without computing all elements."""
        # [task 6.10] For start 10, strides (4, -1) and shape (3, 8), return (3, 18), two Python integers. `self.start`
        # may be an array.
        varies = isinstance(self.start, np.ndarray)
        low, high = (int(self.start.min()), int(self.start.max())) if varies else (self.start, self.start)
        for stride, size in zip(self.strides, self.shape, strict=True):
            if stride > 0:
                high += stride * (size - 1)
            elif stride < 0:
                low += stride * (size - 1)
        return low, high
        # [end]

    def fits(self) -> bool:
        """Whether the dtype can hold every element, so that none wraps around."""
        low, high = self.bounds
        limit = 1 << 8 * self.dtype.itemsize - 1
        return -limit <= low and high < limit

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """The same integers as an `Affine` of this dtype if all fit; otherwise, as an array, cast as in NumPy."""
        dtype = np.dtype(dtype)
        if dtype is self.dtype:
            return self
        other = Affine(self.start, self.strides, self.shape, dtype, self.known_bounds)
        return other if other.dtype.kind == "i" and other.fits() else stored(self).astype(dtype)

    def with_axes(self, places: Sequence[int]) -> Affine:
        start = self.start
        if isinstance(start, np.ndarray):
            start = start.reshape(with_ones(start.shape, places, 1))
        strides, shape = with_ones(self.strides, places, 0), with_ones(self.shape, places, 1)
        return Affine(start, strides, shape, self.dtype, self.known_bounds)

    def broadcast_to(self, shape: Shape) -> Affine:
        if shape == self.shape:
            return self
        start, more = self.start, len(shape) - len(self.shape)
        if more and isinstance(start, np.ndarray):
            start = start.reshape((1,) * more + start.shape)
        strides = tuple([0 if size == 1 else stride for stride, size in zip(self.strides, self.shape, strict=True)])
        return Affine(start, (0,) * more + strides, common(self.shape, shape), self.dtype, self.known_bounds)

    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        a, b = as_affine(x, self.dtype), as_affine(y, self.dtype)
        if a is None or b is None:
            return None
        if ufunc in COMPARISONS:
            box = compared(COMPARISONS[ufunc], a, b)
            return compared_by_rows(COMPARISONS[ufunc], a, b) if box is None else box
        result = None
        if ufunc is np.add:
            result = a.plus(b)
        elif ufunc is np.subtract:
            result = a.minus(b)
        elif ufunc is np.multiply and b.is_number():
            result = a.broadcast_to(common(a.shape, b.shape)).times(b.start)
        elif ufunc is np.multiply and a.is_number():
            result = b.broadcast_to(common(a.shape, b.shape)).times(a.start)
        elif ufunc in (np.remainder, np.fmod) and b.is_number():
            low, high = a.bounds
            result = a if 0 <= low and high < b.start else None
        return result if result is not None and result.fits() else None

    def only(self, chosen: np.ndarray) -> Affine:
        start = self.start
        if len(chosen) and chosen[-1] - chosen[0] == len(chosen) - 1 and not isinstance(start, np.ndarray):
            start = start + self.strides[0] * int(chosen[0])
            return Affine(start, self.strides, (len(chosen), *self.shape[1:]), self.dtype)
        if isinstance(start, np.ndarray) and start.shape[0] > 1:
            start = start[chosen]
            if start.size and (start == start.flat[0]).all():
                start = int(start.flat[0])
        elif self.strides[0]:
            start = start + (self.strides[0] * chosen).reshape(-1, *(1,) * (self.ndim - 1))
        return Affine(start, (0, *self.strides[1:]), (len(chosen), *self.shape[1:]), self.dtype)

    def is_number(self) -> bool:
        """Whether all elements are equal."""
        return not isinstance(self.start, np.ndarray) and not any(self.strides)

    def times(self, factor: int) -> Affine | None:
        """Every element times a number, or None if that could overflow."""
        low, high = self.bounds
        if isinstance(self.start, np.ndarray) and max(-low, high) * abs(factor) >= 2 * LIMIT:
            return None
        bounds = (low * factor, high * factor) if factor >= 0 else (high * factor, low * factor)
        return Affine(self.start * factor, tuple([factor * s for s in self.strides]), self.shape, self.dtype, bounds)

    def minus(self, other: Affine) -> Affine | None:
        """The difference, or None if it is not an `Affine`."""
        negative = other.times(-1)
        return None if negative is None else self.plus(negative)

    def plus(self, other: Affine) -> Affine | None:
        """The sum of `self` and `other`, or None if the sum is not an `Affine`."""
        if not self.shape and other.shape:
            return other.plus(self)
        (low, high), (other_low, other_high) = self.bounds, other.bounds
        bounds = low + other_low, high + other_high
        dtype = self.dtype if self.dtype is other.dtype else max(self.dtype, other.dtype)
        if not other.shape:
            return Affine(self.start + other.start, self.strides, self.shape, dtype, bounds)
        shape = common(self.shape, other.shape)
        a, b = self.broadcast_to(shape), other.broadcast_to(shape)
        # [task 6.10] Return the sum of `a` and `b`, or None. With i = arange(0, 4)[:, None], j = arange(0, 8)[None, :]
        # and an array `x` of shape (4, 1): `x + j` is an `Affine`, but `x + i` has a stride and several starts along
        # axis 0. Give the result `bounds` if these are certainly its bounds, and None otherwise: they are the bounds
        # of `10 * i + j`, but not those of `j + (7 - j)`.
        start = a.start + b.start
        strides = tuple(s + t for s, t in zip(a.strides, b.strides, strict=True))
        if isinstance(start, np.ndarray) and any(s and size > 1 for s, size in zip(strides, start.shape, strict=True)):
            return None
        both_vary = isinstance(a.start, np.ndarray) and isinstance(b.start, np.ndarray)
        along_one_axis = any(s and t for s, t in zip(a.strides, b.strides, strict=True))
        return Affine(start, strides, shape, dtype, None if both_vary or along_one_axis else bounds)
        # [end]


def as_affine(x: Any, dtype: np.dtype) -> Affine | None:
    """An integer, or an array of integers, as an `Affine` whose strides are 0. A Python integer gets this dtype.

    None for anything else, and for integers so large that sums of them may overflow.
    """
    if isinstance(x, Affine):
        result = x
    elif not isinstance(x, np.ndarray | np.generic | Lazy):
        return as_affine(dtype.type(x) if isinstance(x, int) else np.asarray(x), dtype)
    elif isinstance(x, Lazy) or x.dtype.kind != "i":
        return None
    elif not x.shape:
        result = number(x.dtype.type(x))
    else:
        result = Affine(x.astype(np.int64), (0,) * x.ndim, x.shape, x.dtype)
    if result.dtype.itemsize < 8:
        return result
    low, high = result.bounds
    return result if -LIMIT < low and high < LIMIT else None


@functools.lru_cache(maxsize=1024, typed=True)
def number(x: np.signedinteger) -> Affine:
    """A scalar as an `Affine`."""
    value = int(x)
    return Affine(value, (), (), x.dtype, (value, value))


def compared(compare: Callable[[Any, Any], Any], a: Affine, b: Affine) -> Box | None:
    """The box of the elements where `compare(a, b)` is true; None if they do not form a box, or might not."""
    # [task 6.10] With i = arange(0, 4)[:, None], j = arange(0, 8)[None, :] and the array x = [[3], [0], [5], [1]]:
    #     7 - j >= 5                   ranges ((0, 4), (0, 3))
    #     i + j >= i + 5               ranges ((0, 4), (5, 8))
    #     i + j < 11, and x < j + 6    ranges ((0, 4), (0, 8))
    #     i + j < 0                    ranges ((0, 0), (0, 0))
    #     i + j < 9, and x < j         None
    difference = a.minus(b)
    if difference is None:
        return None
    shape = difference.shape
    first, last = (compare(bound, 0) for bound in difference.bounds)
    if first == last:
        return Box.full(shape) if first else Box(((0, 0),) * len(shape), shape)
    axes = [axis for axis, stride in enumerate(difference.strides) if stride]
    if isinstance(difference.start, np.ndarray) or len(axes) != 1:
        return None
    (axis,) = axes
    (holds,) = np.nonzero(compare(difference.start + difference.strides[axis] * np.arange(shape[axis]), 0))
    ranges = [(0, size) for size in shape]
    ranges[axis] = (int(holds[0]), int(holds[-1]) + 1)
    return Box(tuple(ranges), shape)
    # [end]


def arange(start: int, end: int) -> Affine:
    """The integers from `start` up to, but not including, `end`."""
    return Affine(start, (1,), (end - start,), np.int32)
