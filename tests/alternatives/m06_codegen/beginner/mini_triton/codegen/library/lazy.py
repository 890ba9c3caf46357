"""Arrays that are not stored: positions, and the masks made from them.

Most offsets of a kernel are `start + i * stride`, and most masks say where such a number is below a limit. As long as
they are, nothing is computed element by element: a load is a slice, and a mask is a box in the array.

`Affine` and `Box` stand where NumPy arrays do. What cannot stay lazy becomes a plain array when it is computed.

Source: NumPy's `__array_ufunc__` protocol (NEP 13). Triton asks the same question of its IR at compile time:
`lib/Analysis/AxisInfo.cpp`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = Any
"""A NumPy array, a NumPy scalar, or a lazy array."""
Shape = tuple[int, ...]
COMPARISONS: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}
LIMIT = 2**61  # sums of two numbers below this one fit in int64


class Lazy(NDArrayOperatorsMixin):
    """An array without its elements; `__array__` makes them. (Given.)"""

    shape: Shape
    dtype: np.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise NotImplementedError

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Array:
        """NumPy calls this for `self + x`, `x + self`, `np.add(x, self)` and `np.add.reduce(self)`."""
        lazy = self.lazily(ufunc, *inputs) if method == "__call__" and len(inputs) == 2 and not options else None
        return getattr(ufunc, method)(*map(stored, inputs), **options) if lazy is None else lazy

    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        """`ufunc(x, y)`, of which one is this array, without its elements; or None."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Array:
        keys = key if isinstance(key, tuple) else (key,)
        if keys.count(slice(None)) == self.ndim and len(keys) == self.ndim + keys.count(None):
            return self.with_axes([place for place, key in enumerate(keys) if key is None])
        return stored(self)[key]

    def with_axes(self, places: Sequence[int]) -> Lazy:
        """The same with additional axes of size 1, at these places of the result."""
        raise NotImplementedError

    def broadcast_to(self, shape: Shape) -> Lazy:
        """The same, repeated along new axes and along axes of size 1."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        """All else that arrays have: `reshape`, `view`, `any`, ..."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(stored(self), name)


def stored(x: Any) -> Any:
    """A plain array with the elements of a lazy one; all else as it is."""
    return np.asarray(x) if isinstance(x, Lazy) else x


def broadcast_to(x: Array, shape: Shape) -> Array:
    """`np.broadcast_to` for lazy arrays, too."""
    return x.broadcast_to(shape) if isinstance(x, Lazy) else np.broadcast_to(x, shape)


def common(x: Shape, y: Shape) -> Shape:
    """The shape in which two arrays meet, which fit each other. `np.broadcast_shapes` takes longer."""
    if x == y or not y:
        return x
    if len(x) < len(y):
        x, y = y, x
    more = len(x) - len(y)
    return x[:more] + tuple(n if m == 1 else m for m, n in zip(x[more:], y, strict=True))


def together(*arrays: Any) -> Shape:
    """The shape in which arrays meet. None, and a Python number, counts as a scalar."""
    return functools.reduce(common, [getattr(array, "shape", ()) for array in arrays])


def where(mask: Array, x: Array, y: Array) -> Array:
    """`np.where`, with little work for a box that is all true, or a mask that differs along the first axis only."""
    shape = np.shape(x)
    if common(common(shape, np.shape(mask)), np.shape(y)) != shape or not shape:
        return np.where(mask, x, y)
    if isinstance(mask, Box) and mask.is_full():
        return x
    if isinstance(mask, np.ndarray) and mask.ndim == len(shape) and mask.size == mask.shape[0] == shape[0]:
        others = np.flatnonzero(~mask.ravel())
        if not others.size:
            return x
        result = np.array(x)
        result[others] = np.broadcast_to(y, shape)[others]
        return result
    return np.where(mask, x, y)


def with_ones(values: tuple[Any, ...], places: Sequence[int], one: Any) -> tuple[Any, ...]:
    """`values` with `one` inserted so that it ends up at each of these places, which ascend."""
    result = list(values)
    for place in places:
        result.insert(place, one)
    return tuple(result)


class Affine(Lazy):
    """The integers `start + stride[0] * i + stride[1] * j + ...` at index (i, j, ...).

    `start` is a Python integer, or an array of `int64` that has all the axes, but most of them with size 1. Along an
    axis of the array that is longer there is no stride.
    """

    def __init__(self, start: Any, strides: Shape, shape: Shape, dtype: Any) -> None:
        self.start, self.strides, self.shape, self.dtype = start, strides, shape, np.dtype(dtype)
        self.known_bounds: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Affine(start={self.start}, strides={self.strides}, shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        result = np.asarray(self.start, np.int64)
        for axis, (stride, size) in enumerate(zip(self.strides, self.shape, strict=True)):
            if stride:
                steps = stride * np.arange(size, dtype=np.int64)
                result = result + steps.reshape(*(-1 if other == axis else 1 for other in range(self.ndim)))
        return np.broadcast_to(result, self.shape).astype(dtype or self.dtype)

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest element."""
        if self.known_bounds is None:
            self.known_bounds = self.corners()
        return self.known_bounds

    def corners(self) -> tuple[int, int]:
        """The smallest and the largest element, computed: both are at corners."""
        if isinstance(self.start, np.ndarray):
            low = int(np.min(self.start))
            high = int(np.max(self.start))
        else:
            low = int(self.start)
            high = int(self.start)
        for axis in range(len(self.shape)):
            last = self.strides[axis] * (self.shape[axis] - 1)
            if last < 0:
                low = low + last
            else:
                high = high + last
        return low, high

    def fits(self) -> bool:
        """Whether its dtype can hold every element, so that none has wrapped around."""
        low, high = self.bounds
        limit = 1 << 8 * self.dtype.itemsize - 1
        return -limit <= low and high < limit

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """The same integers in another dtype, if they fit; else as NumPy casts."""
        other = Affine(self.start, self.strides, self.shape, dtype)
        other.known_bounds = self.known_bounds
        return other if other.dtype.kind == "i" and other.fits() else stored(self).astype(dtype)

    def with_axes(self, places: Sequence[int]) -> Affine:
        start = self.start
        if isinstance(start, np.ndarray):
            start = start.reshape(with_ones(start.shape, places, 1))
        return Affine(start, with_ones(self.strides, places, 0), with_ones(self.shape, places, 1), self.dtype)

    def broadcast_to(self, shape: Shape) -> Affine:
        if shape == self.shape:
            return self
        more = len(shape) - len(self.shape)
        lifted = self.with_axes(range(more)) if more else self
        strides = tuple(0 if size == 1 else stride for stride, size in zip(lifted.strides, lifted.shape, strict=True))
        return Affine(lifted.start, strides, common(lifted.shape, shape), self.dtype)

    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        a, b = as_affine(x, self.dtype), as_affine(y, self.dtype)
        if a is None or b is None:
            return None
        if ufunc in COMPARISONS:
            return compared(COMPARISONS[ufunc], a, b)
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

    def rows(self, chosen: np.ndarray) -> Affine:
        """Only what is at these places of the first axis."""
        start = self.start
        if isinstance(start, np.ndarray) and start.shape[0] > 1:
            start = start[chosen]
        elif self.strides[0]:
            start = start + (self.strides[0] * chosen).reshape(-1, *(1,) * (self.ndim - 1))
        return Affine(start, (0, *self.strides[1:]), (len(chosen), *self.shape[1:]), self.dtype)

    def is_number(self) -> bool:
        """Whether all elements are one number."""
        return not isinstance(self.start, np.ndarray) and not any(self.strides)

    def times(self, factor: int) -> Affine | None:
        """Every element times a number, or None if that could overflow."""
        if isinstance(self.start, np.ndarray) and max(map(abs, self.bounds)) * abs(factor) >= 2 * LIMIT:
            return None
        return Affine(self.start * factor, tuple(factor * s for s in self.strides), self.shape, self.dtype)

    def minus(self, other: Affine) -> Affine | None:
        """The difference, or None if it needs an element of its own everywhere."""
        negative = other.times(-1)
        return None if negative is None else self.plus(negative)

    def plus(self, other: Affine) -> Affine | None:
        """The sum, or None if it needs an element of its own everywhere."""
        if not other.shape:
            return Affine(self.start + other.start, self.strides, self.shape, max(self.dtype, other.dtype))
        shape = common(self.shape, other.shape)
        a, b = self.broadcast_to(shape), other.broadcast_to(shape)
        start = a.start + b.start
        strides = ()
        for axis in range(len(shape)):
            stride = a.strides[axis] + b.strides[axis]
            if isinstance(start, np.ndarray) and start.shape[axis] > 1 and stride != 0:
                return None
            strides = strides + (stride,)
        return Affine(start, strides, shape, max(a.dtype, b.dtype))


def as_affine(x: Any, dtype: np.dtype) -> Affine | None:
    """An integer (of this dtype, if it is Python's), or an array of some, as an `Affine` without strides.

    None for anything else, and if sums of such numbers may overflow.
    """
    if not isinstance(x, Lazy | np.ndarray | np.generic):
        x = dtype.type(x) if isinstance(x, int) else np.asarray(x)
    if isinstance(x, Affine):
        result = x
    elif isinstance(x, Lazy) or x.dtype.kind != "i":
        return None
    elif not x.shape:
        result = Affine(int(x), (), (), x.dtype)
    else:
        result = Affine(x.astype(np.int64), (0,) * x.ndim, x.shape, x.dtype)
    if result.dtype.itemsize < 8:
        return result
    low, high = result.bounds
    return result if -LIMIT < low and high < LIMIT else None


def compared(compare: Callable[[Any, Any], Any], a: Affine, b: Affine) -> Box | None:
    """Where `compare(a, b)` is true, or None if that is no box."""
    difference = a.minus(b)
    if difference is None:
        return None
    shape = difference.shape
    low, high = difference.bounds
    at_low = bool(compare(low, 0))
    at_high = bool(compare(high, 0))
    if at_low and at_high:
        return Box.full(shape)
    if not at_low and not at_high:
        return Box(tuple((0, 0) for _ in shape), shape)
    if isinstance(difference.start, np.ndarray):
        return None
    changing = []
    for axis in range(len(shape)):
        if difference.strides[axis] != 0:
            changing.append(axis)
    if len(changing) > 1:
        return None
    axis = changing[0]
    begin = None
    end = 0
    for place in range(shape[axis]):
        if compare(difference.start + difference.strides[axis] * place, 0):
            if begin is None:
                begin = place
            end = place + 1
    ranges = []
    for other in range(len(shape)):
        if other == axis:
            ranges.append((begin or 0, end))
        else:
            ranges.append((0, shape[other]))
    return Box(tuple(ranges), shape)


class Box(Lazy):
    """A mask that is true in a box: from `ranges[axis][0]` up to, not including, `ranges[axis][1]` along each axis.

    If `rows` is an array, that is so at those places of the first axis where it is true; elsewhere the mask is false.
    """

    dtype = np.dtype(bool)

    def __init__(self, ranges: tuple[tuple[int, int], ...], shape: Shape, rows: np.ndarray | None = None) -> None:
        self.ranges, self.shape, self.rows = ranges, shape, rows

    def __repr__(self) -> str:
        return f"Box(ranges={self.ranges}, shape={self.shape}, rows={self.rows})"

    @staticmethod
    def full(shape: Shape, rows: np.ndarray | None = None) -> Box:
        """A mask that is true everywhere, or in these rows."""
        return Box(tuple((0, size) for size in shape), shape, rows)

    @staticmethod
    def of(mask: Any) -> Box | None:
        """A mask as a box, if it is one, or differs along its first axis only."""
        if isinstance(mask, Box):
            return mask
        if isinstance(mask, np.ndarray) and mask.ndim and mask.size == mask.shape[0]:
            return Box.full(mask.shape, mask.ravel())
        return None

    def slices(self) -> tuple[slice, ...]:
        """What selects the box from an array of the same shape."""
        return tuple(slice(*bounds) for bounds in self.ranges)

    def chosen(self) -> np.ndarray:
        """The places of the first axis that have something in the box, if there are `rows`."""
        first, end = self.ranges[0]
        assert self.rows is not None
        return first + np.flatnonzero(self.rows[first:end])

    def is_full(self) -> bool:
        """Whether it is true everywhere."""
        return self.rows is None and all(r == (0, size) for r, size in zip(self.ranges, self.shape, strict=True))

    def is_empty(self) -> bool:
        """Whether the box, in any row, holds nothing."""
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
        lifted = self.with_axes(range(len(shape) - self.ndim))
        if not isinstance(lifted, Box):
            return np.broadcast_to(lifted, shape)
        shape = common(lifted.shape, shape)
        sizes = zip(lifted.ranges, lifted.shape, shape, strict=True)
        ranges = tuple(r if old == new else (0, new * r[1]) for r, old, new in sizes)
        rows = None if lifted.rows is None else np.broadcast_to(lifted.rows, shape[:1])
        return Box(ranges, shape, rows)

    def lazily(self, ufunc: np.ufunc, x: Any, y: Any) -> Array | None:
        """Boxes intersect in a box."""
        a, b = Box.of(x), Box.of(y)
        if ufunc is not np.bitwise_and or a is None or b is None:
            return None
        shape = common(a.shape, b.shape)
        a, b = a.broadcast_to(shape), b.broadcast_to(shape)
        if not (isinstance(a, Box) and isinstance(b, Box)):
            return None
        ranges = []
        for axis in range(len(shape)):
            begin = max(a.ranges[axis][0], b.ranges[axis][0])
            end = min(a.ranges[axis][1], b.ranges[axis][1])
            if begin >= end:
                begin = 0
                end = 0
            ranges.append((begin, end))
        if a.rows is None:
            rows = b.rows
        elif b.rows is None:
            rows = a.rows
        else:
            rows = a.rows & b.rows
        return Box(tuple(ranges), shape, rows)


def arange(start: int, end: int) -> Affine:
    """The integers from `start` up to, not including, `end`."""
    return Affine(start, (1,), (end - start,), np.int32)
