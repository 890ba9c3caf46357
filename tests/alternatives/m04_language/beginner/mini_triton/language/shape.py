"""Changing shapes: new dimensions, broadcasts, reshapes, transposes, joins and splits. No element changes its value.

Source: Triton's `python/triton/language/semantic.py` (section "Shape Manipulation"), `core.py` and `standard.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mini_triton.ir.ops.elementwise import width
from mini_triton.ir.types import TensorType, element_type
from mini_triton.language.casts import reinterpret
from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import DTYPES
from mini_triton.language.tensor import broadcast_together, build, member, tensor, to_tensor

__all__ = [
    *("broadcast", "broadcast_to", "expand_dims", "reshape", "view", "ravel", "item", "trans", "permute"),
    *("join", "split", "interleave", "cat", "flip", "gather", "squeeze", "unsqueeze"),
]


def _listed(values: Sequence[Any]) -> tuple[Any, ...]:
    """What came one by one, `f(x, 2, 4)`, or all in one, `f(x, (2, 4))`. (Given.)"""
    return tuple(values[0] if len(values) == 1 and isinstance(values[0], tuple | list) else values)


def _axis(axis: int, rank: int) -> int:
    """An axis of a tensor of that rank, counted from the front. Raises `ValueError` if it has none such. (Given.)"""
    if not -rank <= axis < rank:
        raise ValueError(f"invalid axis {axis}. Expected {-rank} <= axis < {rank}")
    return axis % rank


def _reshaped(x: tensor, shape: Sequence[int], can_reorder: bool = False) -> tensor:
    """`tt.reshape`: the elements of `x`, as many as before, under another shape. (Given.)"""
    result = TensorType(tuple(shape), element_type(x.handle.type))
    return build("tt.reshape", x, allow_reorder=can_reorder, result=result)


# --- new dimensions


@builtin
def index(x: tensor, slices: Any) -> tensor:
    """`x[:, None]`: a `None` is a new dimension of size 1, a `:` a dimension as it is.

    There is nothing else: a program has no access to a single element. Raises `ValueError` for it, naming it.
    """
    if not isinstance(slices, tuple):
        slices = (slices,)
    axis = 0
    for one in slices:
        if one is None:
            x = expand_dims(x, axis)
        elif isinstance(one, slice):
            if one.start is not None:
                raise ValueError("unsupported tensor index: it begins somewhere")
            if one.stop is not None:
                raise ValueError("unsupported tensor index: it ends somewhere")
            if one.step is not None:
                raise ValueError("unsupported tensor index: it leaves some out")
        else:
            raise ValueError("unsupported tensor index: " + repr(one))
        axis = axis + 1
    return x


@member
@builtin
def expand_dims(x: Any, axis: int | Sequence[int]) -> tensor:
    """`x` with new dimensions of size 1, at `axis` of the result or at several of them. They may be negative.

    Raises `ValueError` for an axis that the result has not, and for one given twice.
    """
    if not isinstance(x, tensor):
        x = to_tensor(x)
    if isinstance(axis, int):
        axis = [axis]
    rank = len(x.shape) + len(axis)
    wanted: list[int] = []
    for one in axis:
        if one < -rank or one >= rank:
            raise ValueError(f"axis {one} is not there, the result has {rank} dimensions")
        if one < 0:
            one = one + rank
        if one in wanted:
            raise ValueError(f"axis {one} twice")
        wanted.append(one)
    wanted.sort()
    result = x
    for position in wanted:
        if len(result.shape) == 0:
            result = tensor(current().splat(result.handle, (1,)), x.dtype)
        else:
            result = tensor(current().expand_dims(result.handle, position), x.dtype)
    return result


# --- broadcasts


@builtin
def broadcast(x: tensor, y: tensor) -> tuple[tensor, tensor]:
    """Both in the shape that their shapes broadcast to. Raises `ValueError` if there is none."""
    x, y = broadcast_together(x, y)
    return x, y


@member
@builtin
def broadcast_to(x: tensor, *shape: Any) -> tensor:
    """`x` in the given shape, `broadcast_to(x, 8, 4)` or `broadcast_to(x, (8, 4))`.

    Only dimensions of size 1 grow, and a scalar to any shape. Unlike an operator this adds no dimensions to a tensor.
    Raises `ValueError` for another rank, and for a dimension that does not fit.
    """
    shape = _listed(shape)
    if len(x.shape) == 0:
        if len(shape) == 0:
            return x
        return tensor(current().splat(x.handle, shape), x.dtype)
    if len(shape) != len(x.shape):
        raise ValueError("rank mismatch")
    for old, new in zip(x.shape, shape, strict=True):
        if old != new and old != 1:
            raise ValueError(f"a dimension of {old} cannot become {new}")
    if shape == x.shape:
        return x
    wider = TensorType(shape, element_type(x.handle.type))
    return tensor(current().create("tt.broadcast", x.handle, result=wider), x.dtype)


# --- reshapes


@member
@builtin
def reshape(x: tensor, *shape: Any, can_reorder: bool = False) -> tensor:
    """The elements of `x`, in the same order, under another shape; in any order with `can_reorder`.

    The shape `()` makes a scalar of a tensor of one element. Raises `ValueError` for another number of elements.
    """
    shape = _listed(shape)
    if len(shape) == 0:
        return item(x)
    new_type = TensorType(shape, element_type(x.handle.type))
    if len(x.shape) == 0:
        raise ValueError("a scalar cannot be reshaped")
    if new_type.numel != x.numel:
        raise ValueError("reshape() cannot change total number of elements in tensor")
    return build("tt.reshape", x, result=new_type, allow_reorder=can_reorder)


@member
@builtin
def view(x: tensor, *shape: Any) -> tensor:
    """An old name: `reshape` with `can_reorder`."""
    return reshape(x, *shape, can_reorder=True)


@member
@builtin
def ravel(x: tensor, can_reorder: bool = False) -> tensor:
    """All elements in one dimension."""
    return reshape(x, [x.numel], can_reorder=can_reorder)


@member
@builtin
def item(x: tensor) -> tensor:
    """The only element, as a scalar. Raises `ValueError` if there are more."""
    if x.numel != 1:
        raise ValueError(f"only a tensor of one element is a scalar, not one of shape {list(x.shape)}")
    return build("tt.unsplat", x) if x.shape else x


@member
@builtin
def squeeze(x: tensor, dim: int) -> tensor:
    """Without dimension `dim`, which has size 1."""
    dim = _axis(dim, len(x.shape))
    if x.shape[dim] != 1:
        raise ValueError(f"dimension {dim} of {x!r} has not size 1")
    return reshape(x, (*x.shape[:dim], *x.shape[dim + 1 :]))


@member
@builtin
def unsqueeze(x: tensor, dim: int) -> tensor:
    """With a new dimension of size 1 at `dim`."""
    dim = _axis(dim, len(x.shape) + 1)
    return reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


# --- transposes


@member
@builtin
def permute(x: tensor, *dims: Any) -> tensor:
    """The dimensions in another order: dimension i of the result is dimension `dims[i]` of `x`.

    Raises `ValueError` unless `dims` names every dimension once.
    """
    dims = _listed(dims)
    if len(dims) != len(x.shape):
        raise ValueError("permute dims must have the same length as input shape")
    for number in range(len(dims)):
        if number not in dims:
            raise ValueError("permute dims must be a permutation of 0, 1, ..., n-1, but were " + str(dims))
    return build("tt.trans", x, order=dims)


@member
@builtin
def trans(x: tensor, *dims: Any) -> tensor:
    """As `permute`. Without `dims` the last two dimensions change places."""
    order = list(_listed(dims))
    if not order:
        if len(x.shape) < 2:
            raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
        for i in range(len(x.shape)):
            order.append(i)
        last = order.pop()
        order.insert(len(order) - 1, last)
    return permute(x, order)


# --- two tensors in one, one in two


@builtin
def join(x: tensor, y: tensor) -> tensor:
    """Both, broadcast to one shape, side by side in a new last dimension of size 2. Two scalars make a tensor of two.

    Nothing is promoted here. Raises `TypeError` for two dtypes with different IR types, naming both dtypes.
    """
    if x.dtype.ir_type != y.dtype.ir_type:
        raise TypeError("join: " + str(x.dtype) + " is not " + str(y.dtype))
    dtype = x.dtype
    x, y = broadcast_together(x, y)
    if len(x.shape) == 0:
        x = expand_dims(x, 0)
        y = expand_dims(y, 0)
        both = tensor(current().create("tt.join", x.handle, y.handle), dtype)
        return reshape(both, 2)
    return tensor(current().create("tt.join", x.handle, y.handle), dtype)


@member
@builtin
def split(x: tensor) -> tuple[tensor, tensor]:
    """The two tensors that were joined. A tensor of shape (2,) gives two scalars.

    Raises `ValueError` unless the last dimension has size 2.
    """
    if len(x.shape) == 0:
        raise ValueError("a scalar cannot be split")
    if x.shape[-1] != 2:
        raise ValueError(f"cannot split the shape {list(x.shape)}")
    if len(x.shape) == 1:
        left, right = split(expand_dims(x, 0))
        return item(left), item(right)
    operation = current().operation("tt.split", x.handle)
    return tensor(operation.results[0], x.dtype), tensor(operation.results[1], x.dtype)


@builtin
def interleave(x: tensor, y: tensor) -> tensor:
    """Elements of `x` and `y` in turn, along the last dimension: of (0, 1) and (5, 6) it makes (0, 5, 1, 6)."""
    joined = join(x, y)
    sizes = list(joined.shape)
    if len(sizes) > 1:
        two = sizes.pop()
        sizes[-1] = sizes[-1] * two
        joined = reshape(joined, sizes)
    return joined


@builtin
def cat(x: tensor, y: tensor, can_reorder: bool = False) -> tensor:
    """The elements of both in one dimension, in an order of the compiler's choosing. (Given.)

    Raises `ValueError` without `can_reorder`: Triton could not keep the order before 3.9.
    """
    if not can_reorder:
        raise ValueError("current implementation of `cat` always may reorder elements: pass can_reorder=True")
    if len(x.shape) != 1 or len(y.shape) != 1 or x.dtype.ir_type != y.dtype.ir_type:
        raise ValueError(f"tl.cat takes two tensors of one dimension and one dtype, not {x!r} and {y!r}")
    shape = (x.shape[0] + y.shape[0],)
    return build("tt.cat", x, y, result=TensorType(shape, element_type(x.handle.type)))


# --- elements at other places (given)


@member
@builtin
def flip(x: tensor, dim: int) -> tensor:
    """The elements along `dim` from the last to the first.

    An index is turned over by turning over each of its bits, and a dimension of size 8 is three of size 2, one for
    each bit. Along a dimension of size 2, `a ^ b` combines both elements, and either of them with it gives the other.
    """
    dim = _axis(dim, len(x.shape))
    integer = next(d for d in DTYPES.values() if d.signed and d.width == width(x.handle.type))
    bits = x.shape[dim].bit_length() - 1
    y = _reshaped(reinterpret(x, integer), (*x.shape[:dim], *[2] * bits, *x.shape[dim + 1 :]))
    for axis in range(dim, dim + bits):
        both = current().reduce(y.handle, axis, lambda a, b: current().create("arith.xori", a, b))
        y = y ^ expand_dims(tensor(both, integer), axis)
    return reinterpret(_reshaped(y, x.shape), x.dtype)


@member
@builtin
def gather(x: tensor, index: tensor, axis: int) -> tensor:
    """`x` read along `axis` at the given indices: in one dimension, element i of the result is `x[index[i]]`."""
    if not index.dtype.is_int() or len(index.shape) != len(x.shape):
        raise ValueError(f"tl.gather needs indices of the rank of {x!r}, not {index!r}")
    axis = _axis(axis, len(x.shape))
    if any(i != axis and size != wanted for i, (size, wanted) in enumerate(zip(x.shape, index.shape, strict=True))):
        raise ValueError(f"shapes may differ only along axis {axis}: {list(x.shape)} and {list(index.shape)}")
    return build("tt.gather", x, index, axis=axis)


setattr(tensor, "T", property(lambda x: permute(x, (1, 0)), doc="A matrix transposed."))  # noqa: B010
