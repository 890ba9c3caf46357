"""The operators of the table, formulas of several operators, casts, copies and constants. (Given.)"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, sympify
from mini_triton.fusion.lowering.elementwise import lower_formula, lower_operator, operand
from mini_triton.fusion.lowering.graph import HANDLERS, Unsupported, elementwise, lowers, name_of
from mini_triton.fusion.operators import OPERATORS, computed_in
from mini_triton.fusion.tensors import Computed, Stored, Tensor, View


def lower_from_table(
    node: Node, *operands: Any, alpha: Any = 1, rounding_mode: str | None = None, **others: Any
) -> Computed:
    name = name_of(node)
    if others:
        raise Unsupported(f"with the option {next(iter(others))}")
    if alpha != 1:
        return lower_formula(node, operands, lambda apply, a, b: apply(name_of(node), a, apply("mul", b, alpha)))
    if rounding_mode is not None:
        name = {"floor": "floor_divide", "trunc": "trunc_divide"}[rounding_mode]
    if name == "div" and node.target.namespace == "prims" and not node.meta["val"].dtype.is_floating_point:
        name = "trunc_divide"
    return lower_operator(name, node, *operands)


HANDLERS.update(dict.fromkeys(OPERATORS, lower_from_table))
for _name in ("where", "floor_divide", "trunc_divide"):
    del HANDLERS[_name]


ROOTS = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}
"""Powers that PyTorch computes by other operators, whose results for infinities differ from those of a power."""


@lowers("pow")
def lower_pow(node: Node, x: Any, y: Any) -> Computed:
    if y in (2, 3, 4):
        times = range(int(y) - 1)
        return lower_formula(
            node, [x, y], lambda apply, a, _: functools.reduce(lambda product, _: apply("mul", product, a), times, a)
        )
    if isinstance(y, int | float) and y in ROOTS and node.meta["val"].dtype.is_floating_point:
        return lower_operator(ROOTS[y], node, x)
    if not node.meta["val"].dtype.is_floating_point:
        raise Unsupported("a power of integers")
    return lower_operator("pow", node, x, y)


@lowers("clamp")
def lower_clamp(node: Node, x: Any, least: Any = None, most: Any = None) -> Computed:
    operands = [x, *(bound for bound in (least, most) if bound is not None)]

    def formula(apply: Callable[..., Value], a: Value, *limits: Value) -> Value:
        if least is not None:
            a = apply("maximum", a, limits[0])
        return apply("minimum", a, limits[-1]) if most is not None else a

    return lower_formula(node, operands, formula)


@lowers("where")
def lower_where(node: Node, condition: Tensor, x: Any, y: Any) -> Computed:
    dtype = computed_in(node.meta["val"].dtype)

    def at(body: Body, index: Index) -> Value:
        sides = [operand(body, side, index, dtype) for side in (x, y)]
        return body.apply("where", [operand(body, condition, index, torch.bool), *sides])

    return elementwise(node, [condition, x, y], at)


@lowers("_to_copy", "convert_element_type")
def lower_cast(node: Node, x: Tensor, *_: Any, **__: Any) -> Computed:
    wanted = node.meta["val"].dtype
    if node.meta["val"].device != x.device:
        raise Unsupported(f"from {x.device} to {node.meta['val'].device}")

    def at(body: Body, index: Index) -> Value:
        value = body.cast(body.value(x, index), wanted)
        return body.cast(value, computed_in(wanted))

    return elementwise(node, [x], at)


@lowers("copy")
def lower_copy(node: Node, target: Tensor, x: Tensor, *_: Any) -> Computed:
    dtype = computed_in(target.dtype)
    return elementwise(node, [x], lambda body, index: operand(body, x, index, dtype))


@lowers("copy_")
def lower_copy_(node: Node, target: Tensor, x: Tensor, *_: Any) -> Computed:
    while isinstance(target, View) and target.shape == target.inputs[0].shape:
        target = target.inputs[0]
    if not isinstance(target, Stored) or not target.is_dense:
        raise Unsupported("it writes into a part of a tensor")
    dtype = computed_in(target.dtype)
    result = elementwise(node, [x], lambda body, index: operand(body, x, index, dtype), into=target)
    result.strides = target.strides
    return result


# --- constants


@lowers("full", "full_like", "scalar_tensor", "zeros", "ones")
def lower_full(node: Node, *arguments: Any, **_: Any) -> Computed:
    number = arguments[0] if name_of(node) == "scalar_tensor" else arguments[1]
    dtype = computed_in(node.meta["val"].dtype)
    return elementwise(node, [], lambda body, index: operand(body, number, index, dtype), is_free=True)


@lowers("arange", "iota")
def lower_arange(node: Node, *arguments: Any, start: Any = 0, step: Any = 1, **_: Any) -> Computed:
    if name_of(node) == "arange":
        start, step = (0, 1) if len(arguments) == 1 else (arguments[0], arguments[2] if len(arguments) > 2 else 1)
    if any(isinstance(x, float) for x in (start, step)):
        raise Unsupported("a range of floats")
    last = sympify(start) + sympify(step) * sympify(node.meta["val"].shape[0])
    if any(x.is_number and abs(x) >= 2**31 for x in (sympify(start), last)):
        raise Unsupported("a range beyond 32 bits")
    dtype = computed_in(node.meta["val"].dtype)
    start, step = sympify(start), sympify(step)
    return elementwise(
        node, [], lambda body, index: body.cast(body.index(start + step * index[0]), dtype), is_free=True
    )
