"""Shape operations, one dimension at a time."""

from __future__ import annotations

from mini_triton.ir.attributes import Axis, Unit
from mini_triton.ir.ops.definition import op, require
from mini_triton.ir.ops.elementwise import CONVERT, is_integer
from mini_triton.ir.types import I1, I32, TensorType, Type, element_type, with_element


def tensor(type: Type) -> TensorType:
    """`type` itself, which must be a tensor."""
    if not isinstance(type, TensorType):
        raise TypeError(f"it works on tensors, not on {type}")
    return type


@op("tt.get_program_id", assembly="#axis attr-dict : type(result)", pure=True)
def get_program_id(*, axis: Axis) -> Type:
    """Which program of the launch grid this is, along one axis."""
    return I32


@op("tt.get_num_programs", assembly="#axis attr-dict : type(result)", pure=True)
def get_num_programs(*, axis: Axis) -> Type:
    """How many programs the launch grid has along one axis."""
    return I32


@op("tt.make_range", assembly="attr-dict : type(result)", pure=True)
def make_range(*, start: int, end: int) -> Type:
    """The integers from `start` up to, but without, `end`."""
    length = end - start
    if length <= 0:
        raise TypeError(f"the range from {start} to {end} is empty")
    return TensorType((length,), I32)


@op("tt.splat", assembly=CONVERT.replace("input", "src"), pure=True)
def splat(src: Type, *, result: Type) -> Type:
    """A scalar in every element of a tensor."""
    if isinstance(src, TensorType):
        raise TypeError(f"it takes a scalar, not {src}")
    if not isinstance(result, TensorType):
        raise TypeError(f"it gives a tensor, not {result}")
    if result.element != src:
        raise TypeError(f"a splat of {src} cannot be {result}")
    return result


@op("tt.unsplat", assembly="$src attr-dict : type($src)", pure=True)
def unsplat(src: Type) -> Type:
    """The only element of a tensor that has one."""
    require(tensor(src).numel == 1, f"it takes a tensor of one element, not {src}")
    return element_type(src)


@op("tt.expand_dims", assembly=CONVERT.replace("input", "src"), pure=True)
def expand_dims(src: Type, *, axis: int) -> Type:
    """A new dimension of size 1 at position `axis` of the result; `axis` counts from 0 and is never negative."""
    old = tensor(src)
    if axis < 0 or axis > old.rank:
        raise TypeError(f"axis {axis} is out of range for {src}")
    shape = list(old.shape)
    shape.insert(axis, 1)
    return TensorType(tuple(shape), old.element)


@op("tt.broadcast", assembly=CONVERT.replace("input", "src"), pure=True)
def broadcast(src: Type, *, result: Type) -> Type:
    """Repeat along dimensions of size 1. The rank stays: `tt.expand_dims` comes first."""
    old = tensor(src)
    new = tensor(result)
    if old.element != new.element:
        raise TypeError(f"elements differ: {src} and {result}")
    if old.rank != new.rank:
        raise TypeError(f"ranks differ: {src} and {result}")
    for i in range(old.rank):
        if old.shape[i] != 1:
            if old.shape[i] != new.shape[i]:
                raise TypeError(f"dimension {i} cannot grow from {old.shape[i]} to {new.shape[i]}")
    return new


@op(
    "tt.reshape",
    assembly=CONVERT.replace("input", "src").replace("attr-dict", "flag(allow_reorder) attr-dict"),
    pure=True,
)
def reshape(src: Type, *, allow_reorder: Unit = False, result: Type) -> Type:
    """The same elements in row-major order under another shape; in any order if `allow_reorder`."""
    old = tensor(src)
    new = tensor(result)
    if old.element != new.element:
        raise TypeError(f"elements differ: {src} and {result}")
    old_size = 1
    for size in old.shape:
        old_size = old_size * size
    new_size = 1
    for size in new.shape:
        new_size = new_size * size
    if old_size != new_size:
        raise TypeError(f"{src} and {result} differ in size")
    return new


@op("tt.trans", assembly=CONVERT.replace("input", "src"), pure=True)
def trans(src: Type, *, order: tuple[int, ...]) -> Type:
    """Permute dimensions: dimension i of the result is dimension `order[i]` of the operand."""
    old = tensor(src)
    if len(order) != old.rank:
        raise TypeError(f"{order} has not as many axes as {src}")
    for axis in range(old.rank):
        if axis not in order:
            raise TypeError(f"axis {axis} of {src} is missing in {order}")
    shape = []
    for axis in order:
        shape.append(old.shape[axis])
    return TensorType(tuple(shape), old.element)


@op("tt.join", assembly="$lhs , $rhs attr-dict : type($lhs) -> type(result)", pure=True)
def join(lhs: Type, rhs: Type) -> Type:
    """Two tensors side by side in a new last dimension of size 2."""
    left = tensor(lhs)
    right = tensor(rhs)
    if left != right:
        raise TypeError(f"its operands must have the same type, got {lhs} and {rhs}")
    return TensorType(left.shape + (2,), left.element)


@op("tt.split", assembly="$src attr-dict : type($src) -> type(result)", pure=True)
def split(src: Type) -> tuple[Type, Type]:
    """The two halves along a last dimension of size 2: the opposite of `tt.join`."""
    whole = tensor(src)
    if whole.rank < 2:
        raise TypeError(f"{src} has only one dimension")
    if whole.shape[-1] != 2:
        raise TypeError(f"the last dimension of {src} is not 2")
    first = TensorType(whole.shape[:-1], whole.element)
    second = TensorType(whole.shape[:-1], whole.element)
    return (first, second)


@op("tt.cat", assembly="$lhs , $rhs attr-dict : type($lhs) -> type(result)")
def cat(lhs: Type, rhs: Type, *, result: Type) -> Type:
    """The elements of both, in an order of the compiler's choosing."""
    require(tensor(lhs).element == tensor(rhs).element == tensor(result).element, "elements differ")
    require(tensor(lhs).numel + tensor(rhs).numel == tensor(result).numel, "the sizes do not add up")
    return result


@op("tt.gather", assembly="$src [ $indices ] attr-dict : functional-type", pure=True)
def gather(src: Type, indices: Type, *, axis: int) -> Type:
    """`src` read along `axis` at the given indices."""
    require(is_integer(indices), f"indices are integers, not {indices}")
    require(tensor(src).rank == tensor(indices).rank > axis >= 0, f"axis or ranks do not fit: {src}, {indices}")
    for i, (size, wanted) in enumerate(zip(tensor(src).shape, tensor(indices).shape, strict=True)):
        require(i == axis or size == wanted, f"dimension {i} differs: {src} and {indices}")
    return with_element(indices, element_type(src))


@op("tt.histogram", assembly="$src (, $mask)? attr-dict : type($src) -> type(result)", pure=True)
def histogram(src: Type, mask: Type | None = None, *, result: Type) -> Type:
    """How often each of the numbers 0, 1, 2, … occurs."""
    require(tensor(src).rank == tensor(result).rank == 1 and is_integer(src), f"it counts 1-D integers, not {src}")
    require(mask is None or mask == with_element(src, I1), f"its mask must be {with_element(src, I1)}, got {mask}")
    require(element_type(result) == I32, f"it counts in i32, not in {result}")
    return result
