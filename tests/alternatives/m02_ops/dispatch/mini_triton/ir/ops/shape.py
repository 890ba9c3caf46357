"""Shape operations; rules by matching."""

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
    match end - start:
        case length if length > 0:
            return TensorType((length,), I32)
        case _:
            raise TypeError(f"there is nothing from {start} to {end}")


@op("tt.splat", assembly=CONVERT.replace("input", "src"), pure=True)
def splat(src: Type, *, result: Type) -> Type:
    """A scalar in every element of a tensor."""
    match result:
        case TensorType(element=element) if element == src:
            return result
    raise TypeError(f"{src} cannot be splat to {result}")


@op("tt.unsplat", assembly="$src attr-dict : type($src)", pure=True)
def unsplat(src: Type) -> Type:
    """The only element of a tensor that has one."""
    require(tensor(src).numel == 1, f"it takes a tensor of one element, not {src}")
    return element_type(src)


@op("tt.expand_dims", assembly=CONVERT.replace("input", "src"), pure=True)
def expand_dims(src: Type, *, axis: int) -> Type:
    """A new dimension of size 1 at position `axis` of the result; `axis` counts from 0 and is never negative."""
    match src:
        case TensorType(shape=shape, element=element) if axis in range(len(shape) + 1):
            return TensorType(shape[:axis] + (1,) + shape[axis:], element)
    raise TypeError(f"{src} has no place {axis}")


@op("tt.broadcast", assembly=CONVERT.replace("input", "src"), pure=True)
def broadcast(src: Type, *, result: Type) -> Type:
    """Repeat along dimensions of size 1. The rank stays: `tt.expand_dims` comes first."""
    match (src, result):
        case (TensorType(shape=old, element=a), TensorType(shape=new, element=b)) if a == b and len(old) == len(new):
            if all(left in (1, right) for left, right in zip(old, new, strict=True)):
                return result
    raise TypeError(f"{src} cannot be broadcast to {result}")


@op(
    "tt.reshape",
    assembly=CONVERT.replace("input", "src").replace("attr-dict", "flag(allow_reorder) attr-dict"),
    pure=True,
)
def reshape(src: Type, *, allow_reorder: Unit = False, result: Type) -> Type:
    """The same elements in row-major order under another shape; in any order if `allow_reorder`."""
    match (src, result):
        case (TensorType(element=a, numel=n), TensorType(element=b, numel=m)) if (a, n) == (b, m):
            return result
    raise TypeError(f"{src} cannot be reshaped to {result}")


@op("tt.trans", assembly=CONVERT.replace("input", "src"), pure=True)
def trans(src: Type, *, order: tuple[int, ...]) -> Type:
    """Permute dimensions: dimension i of the result is dimension `order[i]` of the operand."""
    match src:
        case TensorType(shape=shape, element=element) if [*range(len(shape))] == sorted(order):
            return TensorType(tuple(map(shape.__getitem__, order)), element)
    raise TypeError(f"{src} cannot be transposed by {order}")


@op("tt.join", assembly="$lhs , $rhs attr-dict : type($lhs) -> type(result)", pure=True)
def join(lhs: Type, rhs: Type) -> Type:
    """Two tensors side by side in a new last dimension of size 2."""
    match (lhs, rhs):
        case (TensorType(shape=shape, element=element), TensorType()) if lhs == rhs:
            return TensorType(shape + (2,), element)
    raise TypeError(f"{lhs} and {rhs} cannot be joined")


@op("tt.split", assembly="$src attr-dict : type($src) -> type(result)", pure=True)
def split(src: Type) -> tuple[Type, Type]:
    """The two halves along a last dimension of size 2: the opposite of `tt.join`."""
    match src:
        case TensorType(shape=(_, *_, 2) as shape, element=element):
            return (TensorType(shape[:-1], element),) * 2
    raise TypeError(f"{src} cannot be split")


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
