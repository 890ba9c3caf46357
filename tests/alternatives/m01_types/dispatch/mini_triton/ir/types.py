"""The types of the IR, by matching and folding."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections import deque
from dataclasses import dataclass

INTEGER_WIDTHS = (1, 8, 16, 32, 64)
FLOAT_WIDTHS = {"f8E5M2": 8, "f8E4M3FN": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
POINTER_WIDTH = 64
MAX_NUMEL = 2**20  # Triton's limit on the elements of one tensor


def check_dimension(i: int, dim: object) -> None:
    """Refuse what is no power of two."""
    match dim:
        case int() if dim > 0 and dim.bit_count() == 1:
            return
        case int():
            raise ValueError(f"Shape element {i} must be a power of 2")
        case _:
            raise TypeError(f"Shape element {i} must have type int")


def settle(i: int, left: int, right: int) -> int:
    """The dimension that two dimensions become."""
    match left, right:
        case (1, other) | (other, 1):
            return other
        case _ if left == right:
            return left
    raise ValueError(f"Cannot make_shape_compatible: incompatible dimensions at index {i}: {left} and {right}")


@dataclass(frozen=True)
class IntegerType:
    """A signless integer of 1, 8, 16, 32 or 64 bits; one bit is a boolean. Printed `i32`."""

    width: int

    def __post_init__(self) -> None:
        if self.width not in INTEGER_WIDTHS:
            raise ValueError(f"there is no integer type of {self.width} bits, only {INTEGER_WIDTHS}")

    def __str__(self) -> str:
        return f"i{self.width}"


@dataclass(frozen=True)
class FloatType:
    """A floating-point type, by its MLIR name (a key of `FLOAT_WIDTHS`). Printed by that name: `bf16`."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in FLOAT_WIDTHS:
            raise ValueError(f"there is no float type {self.name!r}, only {', '.join(FLOAT_WIDTHS)}")

    @property
    def width(self) -> int:
        """Size in bits."""
        match self.name:
            case "f64":
                return 64
            case "f32":
                return 32
            case "f16" | "bf16":
                return 16
            case _:
                return 8

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PointerType:
    """The address of one element of type `pointee`. Printed `!tt.ptr<f32>`; the `!` marks a dialect's type."""

    pointee: Scalar

    @property
    def width(self) -> int:
        """Size in bits of the address, not of what it points to."""
        return POINTER_WIDTH

    def __str__(self) -> str:
        return f"!tt.ptr<{self.pointee}>"


@dataclass(frozen=True)
class TensorType:
    """A block of elements held by one program: a shape and a scalar element type. Printed `tensor<128x64xf32>`.

    Every dimension is a power of two, and there are at most `MAX_NUMEL` elements: Triton distributes
    a tensor over the threads of a program by splitting the bits of its indices.

    Raises `TypeError` for a shape without dimensions, a dimension that is no `int` or an element that is no scalar;
    `ValueError` for a dimension that is no power of two and for too many elements.
    """

    shape: tuple[int, ...]
    element: Scalar

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))
        match self:
            case TensorType(shape=()):
                raise TypeError("a tensor needs at least one dimension")
            case TensorType(element=IntegerType() | FloatType() | PointerType()):
                pass
            case _:
                raise TypeError("elements are scalars")
        deque(map(check_dimension, itertools.count(), self.shape), maxlen=0)
        if self.numel.bit_length() > MAX_NUMEL.bit_length():
            raise ValueError(f"numel ({self.numel}) exceeds triton maximum tensor numel ({MAX_NUMEL})")

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements."""
        return functools.reduce(operator.mul, self.shape)

    def __str__(self) -> str:
        return f"tensor<{functools.reduce(lambda text, dim: f'{text}{dim}x', self.shape, '')}{self.element}>"


@dataclass(frozen=True)
class FunctionType:
    """What a function takes and returns. Printed `(f32, i32) -> f32`. (Given.)"""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...] = ()

    def __str__(self) -> str:
        results = ", ".join(map(str, self.results))
        return f"({', '.join(map(str, self.inputs))}) -> {results if len(self.results) == 1 else f'({results})'}"


Scalar = IntegerType | FloatType | PointerType
Type = Scalar | TensorType


def element_type(type: Type) -> Scalar:
    """The type of one element: a tensor's element, or a scalar itself (MLIR's `getElementTypeOrSelf`)."""
    match type:
        case TensorType(_, element):
            return element
        case scalar:
            return scalar


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a tensor; `()` for a scalar."""
    match type:
        case TensorType(shape, _):
            return shape
        case _:
            return ()


def with_element(type: Type, element: Scalar) -> Type:
    """The same shape with another element: `tensor<4xf32>` with `i1` is `tensor<4xi1>`, `f32` with `i1` is `i1`."""
    match type:
        case TensorType():
            return dataclasses.replace(type, element=element)
        case _:
            return element


def broadcast_shapes(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of `lhs op rhs`, by NumPy's rule: align at the right, then a dimension of 1 grows to the other's.

    A scalar's shape is `()`, which fits everything. Raises `ValueError` when two dimensions differ and neither is 1;
    the index in its message counts in the result's dimensions, from the left.
    """
    if len(lhs) != len(rhs):
        rank = max(len(lhs), len(rhs))
        return broadcast_shapes(*((1,) * (rank - len(shape)) + tuple(shape) for shape in (lhs, rhs)))
    return tuple(map(settle, itertools.count(), lhs, rhs))


I1, I8, I16, I32, I64 = map(IntegerType, INTEGER_WIDTHS)
F8E5M2, F8E4M3FN, F16, BF16, F32, F64 = map(FloatType, FLOAT_WIDTHS)
