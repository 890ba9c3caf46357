"""The base of lazy arrays, which replace NumPy arrays. (Given.)

Source: NumPy's `__array_ufunc__` protocol (NEP 13).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = Any
"""A NumPy array, a NumPy scalar, or a lazy array."""
Shape = tuple[int, ...]


def operator(ufunc: np.ufunc) -> Callable[[Any, Any], Array]:
    """The method for an operator. It calls `lazily` directly; NumPy would first inspect both operands."""

    def method(self: Lazy, other: Any) -> Array:
        lazy = self.lazily(ufunc, self, other)
        return ufunc(stored(self), stored(other)) if lazy is None else lazy

    return method


class Lazy(NDArrayOperatorsMixin):
    """An array without stored elements; `__array__` computes them."""

    shape: Shape
    dtype: np.dtype
    __add__, __sub__, __mul__ = map(operator, (np.add, np.subtract, np.multiply))
    __lt__, __le__, __gt__, __ge__ = map(operator, (np.less, np.less_equal, np.greater, np.greater_equal))
    __and__ = operator(np.bitwise_and)

    def __repr__(self) -> str:
        fields = (f"{name}={value}" for name, value in vars(self).items() if name != "known_bounds")
        return f"{type(self).__name__}({', '.join(fields)})"

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
        """`ufunc(x, y)`, where x or y is this array, computed without elements; None if that is impossible."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Array:
        keys = key if isinstance(key, tuple) else (key,)
        places = [place for place, key in enumerate(keys) if key is None]
        if len(keys) == self.ndim + len(places) and all(key is None or _is_whole(key) for key in keys):
            return self.with_axes(places)
        return stored(self)[key]

    def with_axes(self, places: Sequence[int]) -> Lazy:
        """Insert axes of size 1 at these positions of the result."""
        raise NotImplementedError

    def broadcast_to(self, shape: Shape) -> Lazy:
        """Repeat the array along new axes and along axes of size 1."""
        raise NotImplementedError

    def only(self, chosen: np.ndarray) -> Array:
        """The elements at these ascending indices along the first axis."""
        return rows(stored(self), chosen)

    def __getattr__(self, name: str) -> Any:
        """All other attributes of arrays: `reshape`, `view`, `any`, ..."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(stored(self), name)


def _is_whole(key: Any) -> bool:
    return isinstance(key, slice) and key == slice(None)  # an array would compare element by element


def stored(x: Any) -> Any:
    """A plain array with the elements of a lazy one; any other value unchanged."""
    return x.__array__() if isinstance(x, Lazy) else x  # `np.asarray` first looks for other protocols


def rows(x: Array, chosen: np.ndarray) -> Array:
    """The elements at these ascending indices along the first axis."""
    if isinstance(x, Lazy):
        return x.only(chosen)
    if len(chosen) and chosen[-1] - chosen[0] == len(chosen) - 1:
        return x[chosen[0] : chosen[-1] + 1]  # a view
    return x[chosen]


def broadcast_to(x: Array, shape: Shape) -> Array:
    """`np.broadcast_to`, also for lazy arrays."""
    return x.broadcast_to(shape) if isinstance(x, Lazy) else np.broadcast_to(x, shape)


@functools.lru_cache(maxsize=4096)
def whole(shape: Shape) -> tuple[tuple[int, int], ...]:
    """The range of all indices along each axis."""
    return tuple((0, size) for size in shape)


@functools.lru_cache(maxsize=4096)
def common(x: Shape, y: Shape) -> Shape:
    """The shape to which two compatible shapes are broadcast. `np.broadcast_shapes` is slower than this function."""
    if x == y or not y:
        return x
    if len(x) < len(y):
        x, y = y, x
    more = len(x) - len(y)
    return x[:more] + tuple(n if m == 1 else m for m, n in zip(x[more:], y, strict=True))


def together(*arrays: Any) -> Shape:
    """The common shape of arrays. None and Python numbers count as scalars."""
    return functools.reduce(common, [getattr(array, "shape", ()) for array in arrays])


def with_ones(values: tuple[Any, ...], places: Sequence[int], one: Any) -> tuple[Any, ...]:
    """Insert `one` into `values`, at each of these ascending positions of the result."""
    result = list(values)
    for place in places:
        result.insert(place, one)
    return tuple(result)
