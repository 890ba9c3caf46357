"""Elementwise operators.

Source: `make_pointwise` in PyTorch's `torch/_inductor/lowering.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, broadcast_index
from mini_triton.fusion.lowering.graph import elementwise
from mini_triton.fusion.operators import OPERATORS, Kind, promote
from mini_triton.fusion.tensors import Computed, Tensor


def operand(body: Body, x: Any, index: Index, dtype: torch.dtype) -> Value:
    """An operand of an elementwise operator, as a value of `dtype`, for the element of the result at `index`.

    `x` is a tensor, which is broadcast to the result's shape; a number, Python's or SymPy's; or a SymPy expression of
    symbolic sizes, such as `s0 + 1`, `s0 / 2` or `s0 > 3`. A number is converted directly to `dtype`, by the rules of
    PyTorch's `Tensor.to`.
    """
    # [task 12.1] `Body` makes all values, by `value`, `cast`, `constant` and `number`.
    if isinstance(x, Tensor):
        return body.cast(body.value(x, broadcast_index(index, x.shape)), dtype)
    if isinstance(x, sympy.Basic) and x.free_symbols:
        return body.number(x, dtype)
    return body.constant(float(x) if dtype.is_floating_point else bool(x) if dtype == torch.bool else int(x), dtype)
    # [end]


def lower_formula(
    node: Node, operands: Sequence[Any], formula: Callable[..., Value], kind: Kind = Kind.SAME
) -> Computed:
    """Lower a node to a formula of elementwise operators from the table in `operators.py`.

    `formula(apply, *values)` computes an element of the result from the operands' elements. `apply(name, *values)`
    applies an operator to values and numbers: for `torch.add(x, y, alpha=2)`, the formula is
    `lambda apply, a, b: apply("add", a, apply("mul", b, 2))`.

    If i is an int32 tensor and h is fp16, these are the dtypes of the operands, and of what `apply` returns. Kernels
    compute with fp32 values for an fp16 tensor; the store rounds them.

        i + 2    int32, int32        h * 2.5                   fp32, fp32
        i / 2    fp32, fp32          h > i                     fp32, bool
        i > 0.5  fp32, bool          torch.logical_and(h, i)   bool, bool
    """
    # [task 12.1] Given: `elementwise`; `operators.py`.
    dtype = promote(kind, list(operands))

    def at(body: Body, index: Index) -> Value:
        def apply(name: str, *values: Any) -> Value:
            known = [x if isinstance(x, Value) else operand(body, x, index, dtype) for x in values]
            return body.apply(name, known, torch.bool if OPERATORS[name].kind is Kind.COMPARE else dtype)

        values = [operand(body, x, index, dtype) for x in operands]
        return formula(apply, *values)

    return elementwise(node, operands, at)
    # [end]


def lower_operator(name: str, node: Node, *operands: Any) -> Computed:
    """Lower a node to a single operator from the table. (Given.)"""
    return lower_formula(node, operands, lambda apply, *values: apply(name, *values), OPERATORS[name].kind)
