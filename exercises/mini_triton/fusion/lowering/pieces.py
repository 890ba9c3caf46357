"""Tensors assembled from pieces: the index of an element decides which piece it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, bounds, divide, remainder, sympify
from mini_triton.fusion.lowering.elementwise import operand
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
        # Task 12.6: Each element of the result lies in one of the `tensors`, and must not be loaded from any other.
        # Given: `body.where`, `less`.
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


@lowers("constant_pad_nd")
def lower_pad(node: Node, x: Tensor, pads: Sequence[Any], number: Any = 0) -> Computed:
    dtype = computed_in(x.dtype)
    before = [ZERO] * len(x.shape)
    for place, size in enumerate(pads[::2]):
        before[len(x.shape) - 1 - place] = sympify(size)
    padded = [len(x.shape) - 1 - place for place in range(len(pads) // 2) if any(pads[2 * place : 2 * place + 2])]

    def at(body: Body, index: Index) -> Value:
        inside = tuple(i - pad for i, pad in zip(index, before, strict=True))
        conditions = [c for axis in padded for c in inside_of(body, inside[axis], ZERO, x.shape[axis])]
        return where_all(body, conditions, lambda: body.value(x, inside), lambda: operand(body, number, (), dtype))

    return elementwise(node, [x], at)


@lowers("slice_scatter")
def lower_slice_scatter(
    node: Node, x: Tensor, piece: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Computed:
    axis %= len(x.shape)
    first = clamp_bound(start, x.shape[axis], 0)
    last = clamp_bound(end, x.shape[axis], x.shape[axis])
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        i = index[axis]
        conditions = inside_of(body, i, first, last)
        if step != 1:
            rest = body.index(remainder(i - first, sympify(step)))
            conditions.append(body.apply("eq", [rest, body.index(ZERO)], torch.bool))
        inside = (*index[:axis], divide(i - first, sympify(step)) if step != 1 else i - first, *index[axis + 1 :])
        return where_all(body, conditions, lambda: operand(body, piece, inside, dtype), lambda: body.value(x, index))

    return elementwise(node, [x, piece], at)


@lowers("select_scatter")
def lower_select_scatter(node: Node, x: Tensor, piece: Tensor, axis: int, place: Any) -> Computed:
    axis %= len(x.shape)
    place = sympify(place)
    place = place + x.shape[axis] if place.is_negative else place
    dtype = computed_in(x.dtype)

    def at(body: Body, index: Index) -> Value:
        condition = body.apply("eq", [body.index(index[axis]), body.index(place)], torch.bool)
        inside = (*index[:axis], *index[axis + 1 :])
        return body.where(condition, lambda: operand(body, piece, inside, dtype), lambda: body.value(x, index))

    return elementwise(node, [x, piece], at)
