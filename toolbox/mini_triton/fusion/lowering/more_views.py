"""Views that are not in `views.py`: single indices, splits, flips, repetitions and strides. (Given.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
from torch.fx import Node

from mini_triton.fusion.indexing import Index, remainder, sympify
from mini_triton.fusion.lowering.graph import ZERO, Unsupported, lowers
from mini_triton.fusion.lowering.views import view
from mini_triton.fusion.tensors import Stored, Tensor, View, sizes_of, strides_in


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
