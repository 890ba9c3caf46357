"""Tensors assembled from pieces: the index of an element decides which piece it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, bounds, divide, remainder, sympify
from mini_triton.fusion.lowering.graph import ZERO, Unsupported, elementwise, lowers
from mini_triton.fusion.lowering.views import clamp_bound
from mini_triton.fusion.operators import computed_in
from mini_triton.fusion.tensors import Computed, Tensor


@lowers("cat")
def lower_cat(node: Node, tensors: Sequence[Tensor], axis: int = 0) -> Computed:
    tensors = [x for x in tensors if x.shape != (0,)]
    if not tensors:
        raise Unsupported("there is nothing to join")
    axis %= len(node.meta["val"].shape)
    dtype = computed_in(node.meta["val"].dtype)

    def at(body: Body, index: Index) -> Value:
        # Task 12.6: The element at `index` lies in one of the `tensors`, and must not be loaded from any other.
        raise NotImplementedError("Task 12.6: Small models")

    return elementwise(node, tensors, at)


def less(body: Body, i: Any, bound: Any) -> Value:
    return body.apply("lt", [body.index(sympify(i)), body.index(sympify(bound))], torch.bool)


def inside_of(body: Body, i: sympy.Expr, first: sympy.Expr, end: sympy.Expr) -> list[Value]:
    """The conditions of `first <= i < end` that are not known to hold."""
    low, high = bounds(i)
    conditions = []
    if not (low - first).is_nonnegative:
        conditions.append(body.apply("ge", [body.index(i), body.index(first)], torch.bool))
    if not sympy.expand(end - 1 - high).is_nonnegative:
        conditions.append(less(body, i, end))
    return conditions


def where_all(body: Body, conditions: list[Value], then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
    """`then()` where all conditions are true, and `otherwise()` elsewhere."""
    if not conditions:
        return then()
    condition = conditions[0]
    for other in conditions[1:]:
        condition = body.apply("logical_and", [condition, other], torch.bool)
    return body.where(condition, then, otherwise)


@lowers("slice_scatter")
def lower_slice_scatter(
    node: Node, x: Tensor, piece: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Computed:
    axis %= len(x.shape)
    first = clamp_bound(start, x.shape[axis], 0)
    last = clamp_bound(end, x.shape[axis], x.shape[axis])
    by = sympify(step)
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        # Task 12.6: The result is a copy of `x`, except that for axis 0, result[first:last:by] is `piece`, which may
        # have another dtype, and must not be loaded out of bounds. What `divide` and `remainder` give for a negative
        # number has no meaning.
        raise NotImplementedError("Task 12.6: Small models")

    return elementwise(node, [x, piece], at)
