"""Elementwise operators.

Source: `make_pointwise` in PyTorch's `torch/_inductor/lowering.py`.
"""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, broadcast_index
from mini_triton.fusion.lowering.graph import elementwise
from mini_triton.fusion.operators import OPERATORS, Kind, computed_in, promote
from mini_triton.fusion.tensors import Computed, Tensor


def operand(body: Body, x: Any, index: Index, dtype: torch.dtype) -> Value:
    """An operand of an elementwise operator, as a value of `dtype`, for the element of the result at `index`.

    `x` is a tensor, which is broadcast to the result's shape; a number, Python's or SymPy's; or a SymPy expression of
    symbolic sizes, such as `s0 + 1` or `s0 > 3`. A number counts as what PyTorch's `Tensor.to` makes of it: 2.5 is 2 in
    an integer dtype.
    """
    # [task 12.1] In `x * 2.5` with fp16 `x`, both operands are fp32 values. `Body` makes all values.
    if isinstance(x, Tensor):
        return body.cast(body.value(x, broadcast_index(index, x.shape)), dtype)
    if isinstance(x, sympy.Basic) and x.free_symbols:
        return body.number(x, dtype)
    return body.constant(float(x) if dtype.is_floating_point else bool(x) if dtype == torch.bool else int(x), dtype)
    # [end]


def lower_operator(name: str, node: Node, *operands: Any) -> Computed:
    """Lower an elementwise operator from the table in `operators.py`.

    As in PyTorch, an operator computes in a dtype to which it casts all operands: in `x > 0.5` with integers `x`,
    floats are compared. The result's elements have the dtype in which kernels compute with the node's dtype.
    """
    # [task 12.1] A line of the body has the dtype of the value that it computes. Given: `elementwise`; `operators.py`.
    kind = OPERATORS[name].kind
    dtype = promote(kind, list(operands))
    result = computed_in(node.meta["val"].dtype)

    def at(body: Body, index: Index) -> Value:
        values = [operand(body, x, index, dtype) for x in operands]
        value = body.apply(name, values, torch.bool if kind is Kind.COMPARE else dtype)
        return body.cast(value, result)

    return elementwise(node, operands, at)
    # [end]
