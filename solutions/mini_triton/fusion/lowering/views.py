"""Views: the same elements at different indices. No data moves.

Source: `ReinterpretView` and its siblings in PyTorch's `torch/_inductor/ir.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
from torch.fx import Node

from mini_triton.fusion.indexing import Index, broadcast_index, ravel, remainder, sympify, unravel
from mini_triton.fusion.lowering.graph import (
    ZERO,
    Unsupported,
    lowers,
    tensor_of,
)
from mini_triton.fusion.tensors import (
    Stored,
    Tensor,
    View,
    sizes_of,
    strides_in,
)


def view(node: Node, x: Tensor, index_of: Callable[[Index], Index], shares_memory: bool = True) -> View:
    """A view of `x`. Its element at an index is the element of `x` at `index_of(index)`."""
    value = node.meta["val"]
    result: View = tensor_of(View, node, [x], at=lambda body, index: body.value(x, index_of(index)), is_free=True)
    result.shares_memory = shares_memory
    result.offset_in_base = sympify(value.storage_offset())
    return result


@lowers("view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "view_of", "alias", "detach")
def lower_view(node: Node, x: Tensor, *_: Any) -> View:
    if node.meta["val"].dtype != x.dtype:
        raise Unsupported("a view with another dtype")
    # [task 12.2] The result has the same elements in the same row-major order. Given: `view`, `sizes_of`.
    shape = sizes_of(node.meta["val"])
    if shape == x.shape:
        return view(node, x, lambda index: index)
    return view(node, x, lambda index: unravel(ravel(index, shape), x.shape))
    # [end]


@lowers("permute")
def lower_permute(node: Node, x: Tensor, axes: Sequence[int]) -> View:
    # [task 12.2] Dimension n of the result is dimension `axes[n]` of `x`, and -1 means the last dimension.
    places = [axis % len(x.shape) for axis in axes]
    return view(node, x, lambda index: tuple(index[places.index(axis)] for axis in range(len(places))))
    # [end]


@lowers("expand")
def lower_expand(node: Node, x: Tensor, *_: Any, **__: Any) -> View:
    return view(node, x, lambda index: broadcast_index(index, x.shape))


@lowers("broadcast_in_dim")
def lower_broadcast_in_dim(node: Node, x: Tensor, shape: Any, axes: Sequence[int]) -> View:
    def index_of(index: Index) -> Index:
        return tuple(ZERO if size == 1 else index[axis] for axis, size in zip(axes, x.shape, strict=True))

    return view(node, x, index_of)


@lowers("as_strided")
def lower_as_strided(node: Node, x: Tensor, shape: Any, strides: Any, offset: Any = None) -> View:
    if not x.is_dense or isinstance(x, Stored) or isinstance(x, View):
        raise Unsupported("strides over memory that is not known")
    steps = [sympify(stride) for stride in strides]

    def index_of(index: Index) -> Index:
        place = sympy.Add(*(i * step for i, step in zip(index, steps, strict=True)))
        return x.index_at(sympy.expand(place + sympify(offset or 0)))

    return view(node, x, index_of)


def clamp_bound(bound: Any, size: sympy.Expr, default: Any) -> sympy.Expr:
    """Normalize a bound of a slice, as Python's slices do. (Given.)"""
    if bound is None or bound == 2**63 - 1:
        return sympify(default)
    bound = sympify(bound)
    if size.is_number and bound.is_number:
        return sympy.Integer(min(max(bound + size if bound < 0 else bound, 0), size))
    return bound + size if bound.is_negative else bound


@lowers("slice")
def lower_slice(node: Node, x: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> View:
    # [task 12.2] For axis 1, the result is x[:, start:end:step]; `node` already tells its size. Given: `clamp_bound`.
    axis %= len(x.shape)
    first = clamp_bound(start, x.shape[axis], 0)
    return view(node, x, lambda index: (*index[:axis], first + step * index[axis], *index[axis + 1 :]))
    # [end]


@lowers("select")
def lower_select(node: Node, x: Tensor, axis: int, place: Any) -> View:
    axis %= len(x.shape)
    place = sympify(place)
    place = place + x.shape[axis] if place.is_negative else place
    return view(node, x, lambda index: (*index[:axis], place, *index[axis:]))


@lowers("split_with_sizes")
def lower_split(node: Node, x: Tensor, sizes: Sequence[Any], axis: int = 0) -> list[View]:
    axis %= len(x.shape)
    result, first = [], ZERO
    for number, part in enumerate(node.meta["val"]):

        def index_of(index: Index, first: sympy.Expr = first) -> Index:
            return (*index[:axis], first + index[axis], *index[axis + 1 :])

        at = lambda body, index, index_of=index_of: body.value(x, index_of(index))  # noqa: E731
        piece = View(f"{node.name}_{number}", x.dtype, sizes_of(part), strides_in(part), x.device, (x,), at, True)
        piece.offset_in_base = sympify(part.storage_offset())
        result.append(piece)
        first = first + sympify(sizes[number])
    return result


@lowers("flip")
def lower_flip(node: Node, x: Tensor, axes: Sequence[int]) -> View:
    flipped = {axis % len(x.shape) for axis in axes}

    def index_of(index: Index) -> Index:
        return tuple(x.shape[axis] - 1 - i if axis in flipped else i for axis, i in enumerate(index))

    return view(node, x, index_of, shares_memory=False)


@lowers("repeat")
def lower_repeat(node: Node, x: Tensor, repeats: Any) -> View:
    def index_of(index: Index) -> Index:
        aligned = index[len(index) - len(x.shape) :]
        return tuple(ZERO if size == 1 else remainder(i, size) for i, size in zip(aligned, x.shape, strict=True))

    return view(node, x, index_of, shares_memory=False)


@lowers("lift_fresh_copy")
def lower_constant(node: Node, x: Tensor) -> View:
    return view(node, x, lambda index: index)


@lowers("clone", "contiguous")
def lower_clone(node: Node, x: Tensor, **_: Any) -> View:
    """A copy has the same elements in different memory. The copy is made only if something needs that memory."""
    return view(node, x, lambda index: index, shares_memory=False)
