"""Types by their MLIR names, such as `!tt.ptr<bf16>`: a name is readable, and easy to write down again."""

from mini_triton.formats import FLOATS, FORMATS, INTEGERS
from mini_triton.ir.types import FloatType, IntegerType, PointerType, Scalar, TensorType, Type

NUMBERS = (*INTEGERS, *FLOATS)
SIGNATURES = ("i1", *(row.signature for row in FORMATS[1:] if row.capability is not None))  # real Triton compiles them
POINTERS = tuple("!tt.ptr<" * depth + name + ">" * depth for depth in (1, 2, 3) for name in NUMBERS)
SCALARS = NUMBERS + POINTERS


def scalar(name: str) -> Scalar:
    """The type of this name."""
    if name.startswith("!tt.ptr<"):
        return PointerType(scalar(name[len("!tt.ptr<") : -1]))
    return IntegerType(int(name[1:])) if name.startswith("i") else FloatType(name)


def of_shape(shape: tuple[int, ...], name: str) -> Type:
    """The tensor type with this shape and element type, or the element type itself for the shape `()`."""
    return TensorType(shape, scalar(name)) if shape else scalar(name)
