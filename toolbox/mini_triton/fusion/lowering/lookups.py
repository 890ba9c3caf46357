"""Rows and elements of a table at indices that are values: embedding, `x[i]`. (Given.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, broadcast_index
from mini_triton.fusion.lowering.graph import Unsupported, elementwise, lowers
from mini_triton.fusion.lowering.indices import index_from
from mini_triton.fusion.tensors import Computed, Tensor


@lowers("embedding")
def lower_embedding(node: Node, weight: Tensor, indices: Tensor, *_: Any, **__: Any) -> Computed:
    def at(body: Body, index: Index) -> Value:
        return body.value(weight, (index_from(body, indices, index[:-1], weight.shape[0]), index[-1]))

    return elementwise(node, [weight, indices], at)


@lowers("gather")
def lower_gather(node: Node, x: Tensor, axis: int, indices: Tensor, **_: Any) -> Computed:
    if not x.shape:
        raise Unsupported("a tensor without dimensions")
    axis %= len(x.shape)

    def at(body: Body, index: Index) -> Value:
        place = index_from(body, indices, index, x.shape[axis])
        return body.value(x, (*index[:axis], place, *index[axis + 1 :]))

    return elementwise(node, [x, indices], at)


@lowers("index_select")
def lower_index_select(node: Node, x: Tensor, axis: int, indices: Tensor) -> Computed:
    if not x.shape or len(indices.shape) != 1:
        raise Unsupported("a tensor without dimensions")
    axis %= len(x.shape)

    def at(body: Body, index: Index) -> Value:
        place = index_from(body, indices, (index[axis],), x.shape[axis])
        return body.value(x, (*index[:axis], place, *index[axis + 1 :]))

    return elementwise(node, [x, indices], at)


@lowers("index")
def lower_index(node: Node, x: Tensor, indices: Sequence[Any]) -> Computed:
    given = [axis for axis, i in enumerate(indices) if i is not None]
    if any(indices[axis].dtype == torch.bool for axis in given):
        raise Unsupported("an index of bools")
    rank = max(len(indices[axis].shape) for axis in given)
    first = given[0] if given == list(range(given[0], given[-1] + 1)) else 0

    def at(body: Body, index: Index) -> Value:
        common = index[first : first + rank]
        rest = iter((*index[:first], *index[first + rank :]))
        place = [
            index_from(body, indices[axis], broadcast_index(common, indices[axis].shape), x.shape[axis])
            if axis in given
            else next(rest)
            for axis in range(len(x.shape))
        ]
        return body.value(x, tuple(place))

    return elementwise(node, [x, *(indices[axis] for axis in given)], at)
