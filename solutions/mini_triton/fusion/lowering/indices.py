"""Indices that are values, known only when the kernel runs."""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value, chosen
from mini_triton.fusion.indexing import Index
from mini_triton.fusion.lowering.elementwise import operand
from mini_triton.fusion.lowering.graph import ZERO, Unsupported, elementwise, lowers
from mini_triton.fusion.operators import computed_in
from mini_triton.fusion.tensors import Computed, Tensor


def index_from(body: Body, indices: Tensor, index: Index, size: sympy.Expr) -> sympy.Expr:
    """The element of `indices` at `index`, as a coordinate along a dimension of this size.

    The kernel loads or computes the element, as an int64. A negative element counts from the end: -1 means the last
    index.
    """
    # [task 12.6] `chosen` turns a value's `number` into a coordinate.
    value = body.cast(body.value(indices, index), torch.int64)
    negative = body.apply("lt", [value, body.index(ZERO)], torch.bool)
    wrapped = body.apply("add", [value, body.index(size)], torch.int64)
    return chosen(body.apply("where", [negative, wrapped, value], torch.int64).number)
    # [end]


@lowers("scatter")
def lower_scatter(node: Node, x: Tensor, axis: int, indices: Tensor, source: Any, **_: Any) -> Computed:
    if not x.shape or _:
        raise Unsupported("a scatter that reduces")
    axis %= len(x.shape)
    others = [n for n in range(len(x.shape)) if n != axis]
    if indices.shape[axis] != 1 or any(indices.shape[n] != x.shape[n] for n in others):
        raise Unsupported("it writes to places that are known only at run time")
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        # [task 12.6] The result is a copy of `x`, except that for axis 0, result[indices[0, j], j] is source[0, j].
        # `indices` has size 1 along `axis`, and x's size along each other axis. `source` is a tensor or a number.
        single = (*index[:axis], ZERO, *index[axis + 1 :])
        place = body.cast(body.value(indices, single), torch.int64)
        hit = body.apply("eq", [body.index(index[axis], torch.int64), place], torch.bool)
        new = operand(body, source, single, dtype)
        return body.apply("where", [hit, new, body.value(x, index)], dtype)
        # [end]

    return elementwise(node, [x, indices, *([source] if isinstance(source, Tensor) else [])], at)
