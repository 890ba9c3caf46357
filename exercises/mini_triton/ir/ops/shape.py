"""Operations that make tensors and change their shapes.

Most of these operations only move elements. The trait `moves` says, for an index in a result, which element of which
operand is there. `ir/moves.py` derives everything else from it.

Source: Triton's `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`; tinygrad's movement operations.
"""

from __future__ import annotations

from typing import Any

from mini_triton.ir.attributes import Axis, Unit
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import NOTHING, Index, op, require
from mini_triton.ir.ops.elementwise import CONVERT, is_integer
from mini_triton.ir.types import I1, I32, TensorType, Type, element_type, shape_of, with_element


def tensor(type: Type) -> TensorType:
    """`type` itself, which must be a tensor."""
    if not isinstance(type, TensorType):
        raise TypeError(f"it works on tensors, not on {type}")
    return type


# --- indices (given)


def axis_of(operation: Operation) -> int:
    """The attribute "axis" of a reduction, a scan, a gather, or an expand_dims."""
    axis = operation.attributes["axis"]
    assert isinstance(axis, int)
    return axis


def order_of(operation: Operation) -> tuple[int, ...]:
    """The attribute "order" of a trans: the operand's axis for each axis of the result."""
    order = operation.attributes["order"]
    assert isinstance(order, tuple)
    return order


def without_axis(operation: Operation, result: int, index: Index) -> tuple[int, Index]:
    """The element without the new axis of an expand_dims."""
    axis = axis_of(operation)
    return 0, (*index[:axis], *index[axis + 1 :])


def repeated(operation: Operation, result: int, index: Index) -> tuple[int, Index]:
    """The element that a broadcast repeats."""
    sizes = zip(shape_of(operation.operands[0].type), shape_of(operation.results[0].type), strict=True)
    return 0, tuple(at if before == after else 0 for at, (before, after) in zip(index, sizes, strict=True))


def reshaped(operation: Operation, result: int, index: Index) -> tuple[int, Index]:
    """The element at the same position in row-major order."""
    position: Any = 0
    for at, size in zip(index, shape_of(operation.results[0].type), strict=True):
        position = position * size + at
    old: list[Any] = []
    for size in reversed(shape_of(operation.operands[0].type)):
        old.insert(0, position % size)
        position = position // size
    return 0, tuple(old)


def permuted(operation: Operation, result: int, index: Index) -> tuple[int, Index]:
    """The element before dimensions were permuted."""
    order = order_of(operation)
    return 0, tuple(index[order.index(axis)] for axis in range(len(order)))


def concatenated(operation: Operation, result: int, index: Index) -> tuple[Any, Index]:
    """The element of the first or the second operand of a cat."""
    (size,) = shape_of(operation.operands[0].type)
    return index[0] // size, (index[0] % size,)


# --- operations


@op("tt.get_program_id", assembly="#axis attr-dict : type(result)", pure=True)
def get_program_id(*, axis: Axis) -> Type:
    """The index of this program along one axis of the launch grid."""
    return I32


@op("tt.get_num_programs", assembly="#axis attr-dict : type(result)", pure=True)
def get_num_programs(*, axis: Axis) -> Type:
    """The number of programs along one axis of the launch grid."""
    return I32


@op("tt.make_range", assembly="attr-dict : type(result)", pure=True)
def make_range(*, start: int, end: int) -> Type:
    """The integers from `start` up to, but not including, `end`."""
    # Task 2.4: Raise TypeError for an empty range; `TensorType` rejects other invalid lengths.
    raise NotImplementedError("Task 2.4: Shape operations")


@op("tt.splat", assembly=CONVERT.replace("input", "src"), pure=True, moves=lambda operation, result, index: (0, ()))
def splat(src: Type, *, result: Type) -> Type:
    """A tensor with a scalar in every element."""
    # Task 2.4: For the result `tensor<4x8xf32>`, reject `tensor<8xf32>` and `i32`. Also reject a scalar result.
    raise NotImplementedError("Task 2.4: Shape operations")


@op(
    "tt.unsplat",
    assembly="$src attr-dict : type($src)",
    pure=True,
    moves=lambda operation, result, index: (0, (0,) * len(shape_of(operation.operands[0].type))),
)
def unsplat(src: Type) -> Type:
    """The only element of a tensor with one element."""
    require(tensor(src).numel == 1, f"it takes a tensor of one element, not {src}")
    return element_type(src)


@op("tt.expand_dims", assembly=CONVERT.replace("input", "src"), pure=True, moves=without_axis)
def expand_dims(src: Type, *, axis: int) -> Type:
    """Insert a dimension of size 1 at position `axis` of the result. `axis` counts from 0 and is never negative."""
    # Task 2.4: At how many positions can a dimension be inserted into a `tensor<4x8xf32>`? Reject all other axes.
    raise NotImplementedError("Task 2.4: Shape operations")


@op("tt.broadcast", assembly=CONVERT.replace("input", "src"), pure=True, moves=repeated)
def broadcast(src: Type, *, result: Type) -> Type:
    """Repeat elements along dimensions of size 1. The rank does not change; `tt.expand_dims` adds dimensions."""
    # Task 2.4: For the result `tensor<4x8xf32>`, reject `tensor<8xf32>`, `tensor<2x8xf32>` and `tensor<1x8xi32>`.
    raise NotImplementedError("Task 2.4: Shape operations")


@op(
    "tt.reshape",
    assembly=CONVERT.replace("input", "src").replace("attr-dict", "flag(allow_reorder) attr-dict"),
    pure=True,
    moves=reshaped,
    mixes=True,
)
def reshape(src: Type, *, allow_reorder: Unit = False, result: Type) -> Type:
    """The same elements in row-major order, in a new shape; in any order if `allow_reorder`."""
    # Task 2.4: For the result `tensor<32xf32>`, reject `tensor<4x4xf32>`, `tensor<32xi32>` and `f32`.
    raise NotImplementedError("Task 2.4: Shape operations")


@op("tt.trans", assembly=CONVERT.replace("input", "src"), pure=True, moves=permuted)
def trans(src: Type, *, order: tuple[int, ...]) -> Type:
    """Permute dimensions: dimension i of the result is dimension `order[i]` of the operand."""
    # Task 2.4: Reject an order that is not a permutation of all axes, such as (0, 0) or (1, 2).
    raise NotImplementedError("Task 2.4: Shape operations")


@op(
    "tt.join",
    assembly="$lhs , $rhs attr-dict : type($lhs) -> type(result)",
    pure=True,
    moves=lambda operation, result, index: (index[-1], index[:-1]),
    mixes=True,
)
def join(lhs: Type, rhs: Type) -> Type:
    """Stack two tensors along a new last dimension, of size 2."""
    # Task 2.4: Reject operands of different types, and scalars.
    raise NotImplementedError("Task 2.4: Shape operations")


@op(
    "tt.split",
    assembly="$src attr-dict : type($src) -> type(result)",
    pure=True,
    moves=lambda operation, result, index: (0, (*index, result)),
    mixes=True,
)
def split(src: Type) -> tuple[Type, Type]:
    """The two halves along a last dimension of size 2: the inverse of `tt.join`."""
    # Task 2.4: Reject `tensor<2xf32>`, because it has no other dimension, and any tensor that no join can give.
    raise NotImplementedError("Task 2.4: Shape operations")


@op(
    "tt.cat",
    assembly="$lhs , $rhs attr-dict : type($lhs) -> type(result)",
    effects=NOTHING,  # but not pure, because the order is the compiler's choice
    moves=concatenated,
    mixes=True,
)
def cat(lhs: Type, rhs: Type, *, result: Type) -> Type:
    """A tensor with the elements of `lhs` and `rhs`, in an order that the compiler chooses."""
    require(tensor(lhs).element == tensor(rhs).element == tensor(result).element, "the element types differ")
    require(tensor(lhs).numel + tensor(rhs).numel == tensor(result).numel, "the sizes do not add up")
    return result


@op("tt.gather", assembly="$src [ $indices ] attr-dict : functional-type", pure=True, mixes=True)
def gather(src: Type, indices: Type, *, axis: int) -> Type:
    """The elements of `src` at the given indices along `axis`."""
    require(is_integer(indices), f"indices are integers, not {indices}")
    require(tensor(src).rank == tensor(indices).rank > axis >= 0, f"axis or ranks do not fit: {src}, {indices}")
    for i, (size, wanted) in enumerate(zip(tensor(src).shape, tensor(indices).shape, strict=True)):
        require(i == axis or size == wanted, f"dimension {i} differs: {src} and {indices}")
    return with_element(indices, element_type(src))


@op("tt.histogram", assembly="$src (, $mask)? attr-dict : type($src) -> type(result)", pure=True, mixes=True)
def histogram(src: Type, mask: Type | None = None, *, result: Type) -> Type:
    """How often each of the numbers 0, 1, 2, … occurs."""
    require(tensor(src).rank == tensor(result).rank == 1 and is_integer(src), f"it counts 1-D integers, not {src}")
    require(mask is None or mask == with_element(src, I1), f"its mask must be {with_element(src, I1)}, got {mask}")
    require(element_type(result) == I32, f"it counts in i32, not in {result}")
    return result
