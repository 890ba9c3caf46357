"""The part of NumPy that tasks 0.1 to 0.4 and 0.7 use, for a page that cannot load NumPy itself.

The learner's code in these tasks needs no NumPy; the given code and the tests need numbers of 32 bits and short arrays.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any, ClassVar

__version__ = "0.0.0"  # hypothesis reads it


class generic:
    """A number of a fixed size."""

    itemsize: ClassVar[int]
    value: Any

    def __init__(self, value: Any = 0) -> None:
        self.value = self._fitted(value.value if isinstance(value, generic) else value)

    def _fitted(self, value: Any) -> Any:
        raise NotImplementedError

    def astype(self, type: type[generic]) -> generic:
        return type(type._wrapped(self.value))

    @classmethod
    def _wrapped(cls, value: Any) -> Any:
        return value

    def item(self) -> Any:
        return self.value

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __format__(self, how: str) -> str:
        return format(self.value, how) if how else str(self)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"np.{type(self).__name__.rstrip('_')}({self})"

    def __eq__(self, other: object) -> Any:
        return ndarray.__eq__(other, self) if isinstance(other, ndarray) else self.value == _plain(other)

    def __neg__(self) -> Any:
        return type(self)(self._wrapped(-self.value))

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self)

    def __sub__(self, other: Any) -> Any:
        return subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return multiply(other, self)

    def __lt__(self, other: Any) -> Any:
        return less(self, other)

    def __gt__(self, other: Any) -> Any:
        return less(other, self)


class integer(generic):
    """A signed integer."""

    def _fitted(self, value: Any) -> int:
        number = int(value)
        if number != self._wrapped(number):
            raise OverflowError(f"Python integer {number} out of bounds for {type(self).__name__}")
        return number

    @classmethod
    def _wrapped(cls, value: Any) -> int:
        half = 1 << (8 * cls.itemsize - 1)
        return (int(value) + half) % (2 * half) - half


class int32(integer):
    itemsize = 4


class int64(integer):
    itemsize = 8


class bool_(generic):
    itemsize = 1

    def _fitted(self, value: Any) -> bool:
        return bool(value)


class floating(generic):
    """A binary floating-point number."""


class float32(floating):
    itemsize = 4

    def _fitted(self, value: Any) -> float:
        return float(struct.unpack("f", struct.pack("f", value))[0])

    def __str__(self) -> str:
        texts = (f"{self.value:.{digits}e}" for digits in range(9))
        shortest = next((text for text in texts if self._fitted(float(text)) == self.value), str(self.value))
        return str(float(shortest)) if 1e-4 <= abs(self.value) < 1e6 or self.value == 0 else shortest


class float64(floating):
    itemsize = 8

    def _fitted(self, value: Any) -> float:
        return float(value)


class ndarray:
    """A row of numbers of one type."""

    def __init__(self, values: Iterable[Any], dtype: type[generic]) -> None:
        self.dtype = dtype
        self.values = [dtype(value) for value in values]
        self.shape = (len(self.values),)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, at: int) -> Any:
        return self.values[at]

    def tolist(self) -> list[Any]:
        return [value.value for value in self.values]

    def __str__(self) -> str:
        texts = [str(value) for value in self.values]
        widest = max(map(len, texts), default=0)
        return f"[{' '.join(text.rjust(widest) for text in texts)}]"

    def __repr__(self) -> str:
        return f"array([{', '.join(map(str, self.values))}], dtype={self.dtype.__name__})"

    def __eq__(self, other: object) -> Any:
        return _apply(operator.eq, self, other, bool_)

    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__ = generic.__add__, generic.__radd__
    __sub__, __rsub__ = generic.__sub__, generic.__rsub__
    __mul__, __rmul__ = generic.__mul__, generic.__rmul__
    __lt__, __gt__ = generic.__lt__, generic.__gt__


def add(left: Any, right: Any) -> Any:
    return _apply(operator.add, left, right)


def subtract(left: Any, right: Any) -> Any:
    return _apply(operator.sub, left, right)


def multiply(left: Any, right: Any) -> Any:
    return _apply(operator.mul, left, right)


def less(left: Any, right: Any) -> Any:
    return _apply(operator.lt, left, right, bool_)


def arange(start: int, stop: int | None = None, dtype: type[generic] = int64) -> ndarray:
    return ndarray(range(start) if stop is None else range(start, stop), dtype)


def array_equal(left: Any, right: Any) -> bool:
    if not isinstance(left, ndarray) or not isinstance(right, ndarray):
        return isinstance(left, ndarray) == isinstance(right, ndarray) and bool(left == right)
    return left.tolist() == right.tolist()


def isclose(left: Any, right: Any) -> bool:
    return abs(_plain(left) - _plain(right)) <= 1e-8 + 1e-5 * abs(_plain(right))


def errstate(**_: str) -> Any:
    return nullcontext()


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, generic) else value


def _type_of(left: Any, right: Any) -> type[generic]:
    """The type of a result. Python's own numbers take the type of the other operand, as in NumPy 2."""
    types = [value.dtype if isinstance(value, ndarray) else type(value) for value in (left, right)]
    sized = [type for type in types if issubclass(type, generic)]
    if float in types and not any(issubclass(type, floating) for type in sized):
        return float64
    return max(sized, key=lambda type: (issubclass(type, floating), type.itemsize))


def _apply(meaning: Callable[[Any, Any], Any], left: Any, right: Any, result: type[generic] | None = None) -> Any:
    """One operation, on each pair of elements if one operand is an array."""
    type = result or _type_of(left, right)

    def one(a: Any, b: Any) -> generic:
        return type(type._wrapped(meaning(_plain(a), _plain(b))))

    if not isinstance(left, ndarray) and not isinstance(right, ndarray):
        return one(left, right)
    size = len(left if isinstance(left, ndarray) else right)
    rows = [value if isinstance(value, ndarray) else [value] * size for value in (left, right)]
    return ndarray([one(a, b) for a, b in zip(*rows, strict=True)], type)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"this page could not load NumPy, and its stand-in has no {name!r}")
