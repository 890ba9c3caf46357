"""The types of the IR, by matching and folding."""

import itertools
from collections import deque


def check_dimension(i: int, dim: object) -> None:
    """Refuse a size that is not a power of two."""
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


class TensorType:
    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(1 if dim is True else dim for dim in self.shape))
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


def broadcast_shapes(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    if len(lhs) != len(rhs):
        rank = max(len(lhs), len(rhs))
        return broadcast_shapes(*((1,) * (rank - len(shape)) + tuple(shape) for shape in (lhs, rhs)))
    return tuple(map(settle, itertools.count(), lhs, rhs))
