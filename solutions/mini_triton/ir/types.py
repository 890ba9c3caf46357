"""Types of the IR: static descriptions of values, as in MLIR.

IR types are *signless*: an `i32` is 32 bits, and the operation (`arith.divsi`, `arith.divui`) decides whether to read
these bits as a signed number. Two types with the same content are equal.

Source: MLIR's builtin types and `include/triton/Dialect/Triton/IR/TritonTypes.td`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mini_triton.formats import FLOATS, INTEGERS, Format

INTEGER_WIDTHS = tuple(sorted(row.width for row in INTEGERS.values()))
POINTER_WIDTH = 64
MAX_NUMEL = 2**20  # Triton's limit on the number of elements in one tensor


@dataclass(frozen=True)
class IntegerType:
    """The type of a signless integer of 1, 8, 16, 32 or 64 bits, printed as `i32`. `i1` is the type of a boolean."""

    width: int

    def __post_init__(self) -> None:
        if self.width not in INTEGER_WIDTHS:
            raise ValueError(f"there is no integer type of {self.width} bits, only {INTEGER_WIDTHS}")

    def __str__(self) -> str:
        # [task 1.1] Return MLIR's spelling: `i32` for 32 bits, and `i1` for a boolean.
        return f"i{self.width}"
        # [end]


@dataclass(frozen=True)
class FloatType:
    """A floating-point type, printed as its MLIR name, such as `bf16`: a key of `FLOATS` in `formats.py`."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in FLOATS:
            raise ValueError(f"there is no float type {self.name!r}, only {', '.join(FLOATS)}")

    @property
    def format(self) -> Format:
        """The meaning of the type's bits. (Given.)"""
        return FLOATS[self.name]

    @property
    def width(self) -> int:
        """Size in bits."""
        # [task 1.1] Return 16 for `bf16`, and 8 for `f8E5M2`. A `Format` describes the bits of a type; see
        # `formats.py`.
        return self.format.width
        # [end]

    def __str__(self) -> str:
        # [task 1.1] Return MLIR's spelling, such as `bf16`.
        return self.name
        # [end]


@dataclass(frozen=True)
class PointerType:
    """The type of an element's address, printed as `!tt.ptr<f32>`. The `!` marks a type of a dialect."""

    pointee: Scalar

    @property
    def width(self) -> int:
        """Size in bits of the address, not of the pointee."""
        # [task 1.1] The size is the same for every pointee.
        return POINTER_WIDTH
        # [end]

    def __str__(self) -> str:
        # [task 1.1] A pointer to `f32` is `!tt.ptr<f32>`; a pointer to a pointer to `i8` is `!tt.ptr<!tt.ptr<i8>>`.
        return f"!tt.ptr<{self.pointee}>"
        # [end]


@dataclass(frozen=True)
class TensorType:
    """The type of a block of elements: a shape and a scalar element type. Printed as `tensor<128x64xf32>`.

    A tensor has at most `MAX_NUMEL` elements. Every dimension is a power of two, because Triton distributes a tensor
    over the threads of a program by splitting the bits of the tensor's indices.

    Raises `TypeError` for a shape without dimensions, an element type that is not a scalar, or a dimension that is not
    an `int`. Raises `ValueError` for a dimension that is not a power of two, and for too many elements.
    """

    shape: tuple[int, ...]
    element: Scalar

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(1 if dim is True else dim for dim in self.shape))  # as in real Triton
        # [task 1.2] Raise the errors that the docstring above lists. The message contains "dimension" if there are no
        # dimensions, "Shape element 1" if the second dimension is wrong, and the number of elements, as in "numel
        # (2097152)", if there are too many. Report the leftmost wrong dimension; report too many elements only if every
        # dimension is valid. Given: `Scalar`, below.
        if not self.shape:
            raise TypeError("a tensor needs at least one dimension")
        if not isinstance(self.element, Scalar):
            raise TypeError(f"the elements of a tensor are scalars, not {self.element}")
        for i, dim in enumerate(self.shape):
            if not isinstance(dim, int):
                raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got {dim!r}")
            # A power of two has a single bit set, which subtracting one moves all the way down.
            if dim < 1 or dim & (dim - 1):
                raise ValueError(f"Shape element {i} must be a power of 2, got {dim}")
        if self.numel > MAX_NUMEL:
            raise ValueError(f"numel ({self.numel}) exceeds triton maximum tensor numel ({MAX_NUMEL})")
        # [end]

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements."""
        # [task 1.2] `tensor<128x64xf32>` has 8192 elements.
        return math.prod(self.shape)
        # [end]

    def __str__(self) -> str:
        # [task 1.2] Return MLIR's spelling: `tensor<128x64xf32>`, `tensor<4x!tt.ptr<f16>>`.
        return f"tensor<{'x'.join(map(str, [*self.shape, self.element]))}>"
        # [end]


@dataclass(frozen=True)
class FunctionType:
    """The types of a function's inputs and results. Printed as `(f32, i32) -> f32`. (Given.)"""

    inputs: tuple[Type, ...]
    results: tuple[Type, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        object.__setattr__(self, "results", tuple(self.results))

    def __str__(self) -> str:
        results = ", ".join(map(str, self.results))
        return f"({', '.join(map(str, self.inputs))}) -> {results if len(self.results) == 1 else f'({results})'}"


Scalar = IntegerType | FloatType | PointerType
Type = Scalar | TensorType


def element_type(type: Type) -> Scalar:
    """The type of one element: a tensor's element type, or a scalar type itself (MLIR's `getElementTypeOrSelf`)."""
    # [task 1.2] Return `f32` for `tensor<4xf32>`, and also for `f32`. A pointer is a scalar.
    return type.element if isinstance(type, TensorType) else type
    # [end]


def is_pointer(type: Type) -> bool:
    """Whether a type is a pointer or a tensor of pointers. (Given.)"""
    return isinstance(element_type(type), PointerType)


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a tensor; `()` for a scalar."""
    # [task 1.2] A scalar has no dimensions.
    return type.shape if isinstance(type, TensorType) else ()
    # [end]


def with_element(type: Type, element: Scalar) -> Type:
    """`type` with a new element type: `tensor<4xf32>` with `i1` is `tensor<4xi1>`, and `f32` with `i1` is `i1`."""
    # [task 1.2] The docstring contains an example of each case.
    return TensorType(type.shape, element) if isinstance(type, TensorType) else element
    # [end]


def broadcast_shapes(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which two shapes are broadcast together, by NumPy's rule.

    The shapes are right-aligned. A dimension of 1 is broadcast to the other shape's dimension. A scalar's shape
    is `()`, which fits every shape. Raises `ValueError` if two dimensions differ and neither is 1. The message names
    the leftmost such pair, and the pair's index among the dimensions of the result.
    """
    # [task 1.3] Return `(8, 4, 64)` for `(8, 1, 64)` and `(4, 64)`. For `(64,)` and `(8, 32)`, raise ValueError "Cannot
    # make_shape_compatible: incompatible dimensions at index 1: 64 and 32", with the dimension of `lhs` first.
    rank = max(len(lhs), len(rhs))
    lhs = (1,) * (rank - len(lhs)) + tuple(lhs)
    rhs = (1,) * (rank - len(rhs)) + tuple(rhs)
    result = []
    for i, (left, right) in enumerate(zip(lhs, rhs, strict=True)):
        if left != right and 1 not in (left, right):
            raise ValueError(f"Cannot make_shape_compatible: incompatible dimensions at index {i}: {left} and {right}")
        result.append(right if left == 1 else left)
    return tuple(result)
    # [end]


I1, I8, I16, I32, I64 = map(IntegerType, INTEGER_WIDTHS)
F16, BF16, F32, F64 = map(FloatType, ("f16", "bf16", "f32", "f64"))
