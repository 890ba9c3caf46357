"""Changing shapes: new dimensions, broadcasts, reshapes, transposes, joins and splits. Elements keep their values.

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
    """A tuple of arguments that are given one by one, `f(x, 2, 4)`, or as one tuple, `f(x, (2, 4))`. (Given.)"""
    return tuple(values[0] if len(values) == 1 and isinstance(values[0], tuple | list) else values)


def wrap_axis(axis: int | None, rank: int) -> int:
    """An axis of a tensor of this rank, counted from the front. Raises `ValueError` for an invalid axis. (Given.)"""
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ValueError(f"invalid axis {axis}. Expected {-rank} <= axis < {rank}")
    return axis % rank


def reshaped(x: tensor, shape: Sequence[int], can_reorder: bool = False) -> tensor:
    """`tt.reshape`: the elements of `x` in a new shape. (Given.)"""
    result = TensorType(tuple(shape), element_type(x.handle.type))
    return build("tt.reshape", x, allow_reorder=can_reorder, result=result)


# --- new dimensions


@builtin
def index(x: tensor, slices: Any) -> tensor:
    """The result of `x[slices]`: each `None` inserts a dimension of size 1, and each `:` keeps a dimension.

    A program cannot access single elements. Any other index, including a slice with a start, a stop or a step, raises a
    `ValueError` that names it.
    """
    # [task 4.3] `slices` is one index or a tuple of indices. For an `x` of shape [8, 4], `x[None]` has shape [1, 8, 4],
    # and `x[:, None]` has shape [8, 1, 4]. The message for `x[0]` begins with "unsupported tensor
    # index: 0".
    for axis, at in enumerate(slices if isinstance(slices, tuple) else (slices,)):
        if at is None:
            x = expand_dims(x, axis)
        elif not isinstance(at, slice) or any(bound is not None for bound in (at.start, at.stop, at.step)):
            raise ValueError(f"unsupported tensor index: {at}: use `:` and None, or tl.load(x + i) for memory")
    return x
    # [end]


@member
@builtin
def expand_dims(x: Any, axis: int | Sequence[int]) -> tensor:
    """`x` with a dimension of size 1 at each given axis of the result. A negative axis counts from the end.

    Raises `ValueError` for an axis that the result does not have, and for an axis given twice.
    """
    # [task 4.3] With axis (0, -1), [8, 4] becomes [1, 8, 4, 1]; with axis 0, a scalar becomes [1]. The current
    # builder's `expand_dims` takes only tensors. Given: `_listed`, `wrap_axis`.
    x = to_tensor(x)
    axes = _listed((axis,))
    rank = len(x.shape) + len(axes)
    axes = tuple(sorted(wrap_axis(axis, rank) for axis in axes))
    if len(set(axes)) < len(axes):
        raise ValueError(f"expand_dims received duplicate axes, normalized axes = {list(axes)}")
    for at in axes:
        handle = current().expand_dims(x.handle, at) if x.shape else current().splat(x.handle, (1,))
        x = tensor(handle, x.dtype)
    return x
    # [end]


# --- broadcasts


@builtin
def broadcast(x: tensor, y: tensor) -> tuple[tensor, tensor]:
    """Broadcast `x` and `y` to their common shape. Raises `ValueError` if they do not have one."""
    x, y = broadcast_together(x, y)
    return x, y


@member
@builtin
def broadcast_to(x: tensor, *shape: Any) -> tensor:
    """Broadcast `x` to a shape: `broadcast_to(x, 8, 4)` or `broadcast_to(x, (8, 4))`.

    Dimensions of size 1 are repeated, and a scalar is broadcast to any shape. Unlike an operator, this function does
    not add dimensions to a tensor. Raises `ValueError` for a tensor of a different rank, and for a dimension that
    cannot be broadcast.
    """
    # [task 4.3] Accept [8, 1] for (8, 4), but raise ValueError "rank mismatch" for [4]. The current builder's
    # `broadcast_to` (3.3) would add a dimension.
    shape = _listed(shape)
    if x.shape and len(x.shape) != len(shape):
        raise ValueError(f"Cannot broadcast, rank mismatch: {list(x.shape)}, {list(shape)}")
    return tensor(current().broadcast_to(x.handle, shape), x.dtype)
    # [end]


# --- reshapes


@member
@builtin
def reshape(x: tensor, *shape: Any, can_reorder: bool = False) -> tensor:
    """The elements of `x` in a new shape: in the same order, or in any order if `can_reorder` is true.

    The shape `()` turns a tensor of one element into a scalar. Raises `ValueError` for a shape with a different number
    of elements. A scalar can only become a scalar.
    """
    # [task 4.3] [8, 4] can become (32,) or (2, 16). First let `TensorType` reject a shape that no tensor may have.
    # Then, for a different number of elements, and for a scalar reshaped to (1,), raise ValueError "reshape() cannot
    # change total number of elements in tensor". Given: `reshaped`; `item`, which also takes a scalar.
    shape = _listed(shape)
    if not shape:
        return item(x)
    if TensorType(shape, element_type(x.handle.type)).numel != x.numel or not x.shape:
        raise ValueError(
            f"reshape() cannot change total number of elements in tensor: from {list(x.shape)} to {list(shape)}"
        )
    return reshaped(x, shape, can_reorder)
    # [end]


@member
@builtin
def view(x: tensor, *shape: Any) -> tensor:
    """`reshape` with `can_reorder`, under an old name."""
    return reshape(x, *shape, can_reorder=True)


@member
@builtin
def ravel(x: tensor, can_reorder: bool = False) -> tensor:
    """All elements in a single dimension."""
    return reshape(x, [x.numel], can_reorder=can_reorder)


@member
@builtin
def item(x: tensor) -> tensor:
    """The only element of `x`, as a scalar. Raises `ValueError` if `x` has more elements."""
    if x.numel != 1:
        raise ValueError(f"only a tensor of one element can become a scalar, not one of shape {list(x.shape)}")
    return build("tt.unsplat", x) if x.shape else x


@member
@builtin
def squeeze(x: tensor, dim: int) -> tensor:
    """Remove dimension `dim`, which must have size 1."""
    dim = wrap_axis(dim, len(x.shape))
    if x.shape[dim] != 1:
        raise ValueError(f"dimension {dim} of {x!r} does not have size 1")
    return reshape(x, (*x.shape[:dim], *x.shape[dim + 1 :]))


@member
@builtin
def unsqueeze(x: tensor, dim: int) -> tensor:
    """Insert a dimension of size 1 at `dim`."""
    dim = wrap_axis(dim, len(x.shape) + 1)
    return reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


# --- transposes


@member
@builtin
def permute(x: tensor, *dims: Any) -> tensor:
    """Permute dimensions: dimension i of the result is dimension `dims[i]` of `x`.

    Raises `ValueError` unless `dims` contains every dimension exactly once.
    """
    # [task 4.3] [8, 4, 2] permuted by (2, 0, 1) is [2, 8, 4], built by `tt.trans` with the attribute `order`, a tuple.
    # For too few or too many dimensions, raise ValueError "permute dims must have the same length as input shape"; for
    # repeated, negative or too large dimensions, such as (1, 1), raise ValueError "permute dims must be a permutation
    # of 0, 1, ..., n-1, but were (1, 1)".
    dims = _listed(dims)
    if len(dims) != len(x.shape):
        raise ValueError(f"permute dims must have the same length as input shape, got {len(x.shape)} and {len(dims)}")
    if sorted(dims) != list(range(len(dims))):
        raise ValueError(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {dims}")
    return build("tt.trans", x, order=dims)
    # [end]


@member
@builtin
def trans(x: tensor, *dims: Any) -> tensor:
    """Permute dimensions, as `permute` does. Without `dims`, swap the last two dimensions."""
    # [task 4.3] Without `dims`, [8, 4, 2] becomes [8, 2, 4]; for fewer than two dimensions, raise ValueError "tl.trans
    # invoked with a 0- or 1-dimensional tensor".
    rank = len(x.shape)
    if _listed(dims):
        return permute(x, *dims)
    if rank < 2:
        raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
    return permute(x, (*range(rank - 2), rank - 1, rank - 2))
    # [end]


# --- joining and splitting


@builtin
def join(x: tensor, y: tensor) -> tensor:
    """Broadcast `x` and `y` to one shape, and join them along a new last dimension of size 2.

    No operand is promoted. Raises a `TypeError` that names both dtypes if their IR types differ.
    """
    # [task 4.3] Two [8] give [8, 2]; [8] and [4, 1] give [4, 8, 2]; two scalars give [2]. The result has the dtype of
    # `x`. `tt.join` does not take scalars.
    if x.dtype.ir_type != y.dtype.ir_type:
        raise TypeError(f"tl.join takes tensors of one dtype, not {x.dtype} and {y.dtype}")
    x, y = broadcast_together(x, y)
    if x.shape:
        return build("tt.join", x, y)
    return reshaped(build("tt.join", expand_dims(x, 0), expand_dims(y, 0)), (2,))
    # [end]


@member
@builtin
def split(x: tensor) -> tuple[tensor, tensor]:
    """The two halves of `x` along its last dimension: the inverse of `join`. A tensor of shape (2,) gives two scalars.

    Raises `ValueError` unless the last dimension has size 2.
    """
    # [task 4.3] [8, 2] gives two [8]. `tt.split` cannot return scalars, so it rejects [2]. Unlike `build`,
    # `current().operation` can have two results.
    if not x.shape or x.shape[-1] != 2:
        raise ValueError(f"tl.split needs a last dimension of size 2, not the shape {list(x.shape)}")
    pair = x if len(x.shape) > 1 else expand_dims(x, 0)
    left, right = (tensor(half, x.dtype) for half in current().operation("tt.split", pair.handle).results)
    return (left, right) if pair is x else (item(left), item(right))
    # [end]


@builtin
def interleave(x: tensor, y: tensor) -> tensor:
    """Alternate elements of `x` and `y` along the last dimension: (0, 1) and (5, 6) give (0, 5, 1, 6)."""
    # [task 4.3] Two [4, 8] give [4, 16]; two scalars give [2].
    pairs = join(x, y)
    if len(pairs.shape) == 1:
        return pairs
    return reshape(pairs, (*pairs.shape[:-2], 2 * pairs.shape[-2]))
    # [end]


@builtin
def cat(x: tensor, y: tensor, can_reorder: bool = False, dim: int = 0) -> tensor:
    """Concatenate `x` and `y` along `dim`. (Given.)

    With `can_reorder`, both tensors must have one dimension, and the compiler chooses the order of the elements.
    """
    if not can_reorder:
        rank = len(x.shape)
        if len(y.shape) != rank:
            raise ValueError(f"tensors must have the same rank, got {rank} and {len(y.shape)}")
        dim = wrap_axis(dim, rank)
        if any(a != b for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True)) if i != dim):
            raise ValueError(f"tensor dims must match except in the concat dimension {dim}, got {x!r} and {y!r}")
        order = list(range(rank))
        order.insert(dim, rank)  # `join` adds the last dimension
        joined = permute(join(x, y), order)
        return reshape(joined, [*x.shape[:dim], 2 * x.shape[dim], *x.shape[dim + 1 :]])
    if len(x.shape) != 1 or len(y.shape) != 1 or x.dtype.ir_type != y.dtype.ir_type:
        raise ValueError(f"tl.cat takes two tensors of one dimension and one dtype, not {x!r} and {y!r}")
    shape = (x.shape[0] + y.shape[0],)
    return build("tt.cat", x, y, result=TensorType(shape, element_type(x.handle.type)))


# --- elements at other places (given)


@member
@builtin
def flip(x: tensor, dim: int | None = None) -> tensor:
    """Reverse the elements along `dim`; along the last dimension if it is None.

    Reversing a dimension flips every bit of an element's index. A dimension of size 8 is reshaped to three dimensions
    of size 2, one for each bit. If `a` and `b` are the two elements along such a dimension, `a ^ b ^ a` is `b`, and `a
    ^ b ^ b` is `a`.
    """
    dim = wrap_axis(-1 if dim is None else dim, len(x.shape))
    integer = next(d for d in DTYPES.values() if d.signed and d.width == width(x.handle.type))
    bits = x.shape[dim].bit_length() - 1
    y = reshaped(reinterpret(x, integer), (*x.shape[:dim], *[2] * bits, *x.shape[dim + 1 :]))
    for axis in range(dim, dim + bits):
        both = current().reduce(y.handle, axis, lambda a, b: current().create("arith.xori", a, b))
        y = y ^ expand_dims(tensor(both, integer), axis)
    return reinterpret(reshaped(y, x.shape), x.dtype)


@member
@builtin
def gather(x: tensor, index: tensor, axis: int) -> tensor:
    """Read `x` along `axis` at the given indices. In one dimension, element i of the result is `x[index[i]]`."""
    if not index.dtype.is_int():
        raise ValueError(f"index must be an integer tensor, not {index!r}")
    if len(index.shape) != len(x.shape):
        raise ValueError(f"source and index tensors must have the same rank, not {x!r} and {index!r}")
    rank = len(x.shape)
    if not -rank <= axis < rank:
        raise ValueError(f"gather axis {axis} must be < source rank ({rank})")
    axis %= rank
    for i, (size, wanted) in enumerate(zip(index.shape, x.shape, strict=True)):
        if i != axis and size != wanted:
            raise ValueError(f"index dim {i} must match the corresponding source dim, got {size} and {wanted}")
    return build("tt.gather", x, index, axis=axis)


setattr(tensor, "T", property(lambda x: permute(x, (1, 0)), doc="The transpose of a matrix."))  # noqa: B010
