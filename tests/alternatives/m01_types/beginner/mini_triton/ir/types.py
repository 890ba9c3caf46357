"""The types of the IR, one small step at a time."""

from __future__ import annotations

from dataclasses import dataclass

INTEGER_WIDTHS = (1, 8, 16, 32, 64)
FLOAT_WIDTHS = {"f8E5M2": 8, "f8E4M3FN": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
POINTER_WIDTH = 64
MAX_NUMEL = 2**20  # Triton's limit on the elements of one tensor


@dataclass(frozen=True)
class IntegerType:
    """A signless integer of 1, 8, 16, 32 or 64 bits; one bit is a boolean. Printed `i32`."""

    width: int

    def __post_init__(self) -> None:
        if self.width not in INTEGER_WIDTHS:
            raise ValueError(f"there is no integer type of {self.width} bits, only {INTEGER_WIDTHS}")

    def __str__(self) -> str:
        text = "i"
        text = text + str(self.width)
        return text


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
        for name in FLOAT_WIDTHS:
            if name == self.name:
                return FLOAT_WIDTHS[name]
        raise ValueError(self.name)

    def __str__(self) -> str:
        return str(self.name)


@dataclass(frozen=True)
class PointerType:
    """The address of one element of type `pointee`. Printed `!tt.ptr<f32>`; the `!` marks a dialect's type."""

    pointee: Scalar

    @property
    def width(self) -> int:
        """Size in bits of the address, not of what it points to."""
        return 64

    def __str__(self) -> str:
        text = str(self.pointee)
        return "!tt.ptr<" + text + ">"


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
        if len(self.shape) == 0:
            raise TypeError("a tensor needs at least one dimension")
        if type(self.element) not in (IntegerType, FloatType, PointerType):
            raise TypeError("the element must be a scalar")
        for i in range(len(self.shape)):
            dim = self.shape[i]
            if type(dim) is not int:
                raise TypeError("Shape element " + str(i) + " must have type int")
            if dim <= 0:
                raise ValueError("Shape element " + str(i) + " must be a power of 2")
            half = dim
            while half % 2 == 0:
                half = half // 2
            if half != 1:
                raise ValueError("Shape element " + str(i) + " must be a power of 2")
        if self.numel > 1048576:
            raise ValueError("numel (" + str(self.numel) + ") exceeds triton maximum tensor numel (1048576)")

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements."""
        product = 1
        for dim in self.shape:
            product = product * dim
        return product

    def __str__(self) -> str:
        text = "tensor<"
        for dim in self.shape:
            text = text + str(dim) + "x"
        text = text + str(self.element)
        text = text + ">"
        return text


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
    if isinstance(type, TensorType):
        return type.element
    else:
        return type


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a tensor; `()` for a scalar."""
    if isinstance(type, TensorType):
        return type.shape
    else:
        return ()


def with_element(type: Type, element: Scalar) -> Type:
    """The same shape with another element: `tensor<4xf32>` with `i1` is `tensor<4xi1>`, `f32` with `i1` is `i1`."""
    if isinstance(type, TensorType):
        new_type = TensorType(type.shape, element)
        return new_type
    else:
        return element


def broadcast_shapes(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of `lhs op rhs`, by NumPy's rule: align at the right, then a dimension of 1 grows to the other's.

    A scalar's shape is `()`, which fits everything. Raises `ValueError` when two dimensions differ and neither is 1;
    the index in its message counts in the result's dimensions, from the left.
    """
    left_shape = list(lhs)
    right_shape = list(rhs)
    while len(left_shape) < len(right_shape):
        left_shape.insert(0, 1)
    while len(right_shape) < len(left_shape):
        right_shape.insert(0, 1)
    result = []
    index = 0
    while index < len(left_shape):
        left = left_shape[index]
        right = right_shape[index]
        if left == right:
            result.append(left)
        elif left == 1:
            result.append(right)
        elif right == 1:
            result.append(left)
        else:
            raise ValueError(
                "Cannot make_shape_compatible: incompatible dimensions at index "
                + str(index)
                + ": "
                + str(left)
                + " and "
                + str(right)
            )
        index = index + 1
    return tuple(result)


I1, I8, I16, I32, I64 = map(IntegerType, INTEGER_WIDTHS)
F8E5M2, F8E4M3FN, F16, BF16, F32, F64 = map(FloatType, FLOAT_WIDTHS)
