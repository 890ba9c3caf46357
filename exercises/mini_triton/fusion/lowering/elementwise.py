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
    # Task 12.1: In `x * 2.5` with fp16 `x`, both operands are fp32 values. `Body` makes all values.
    raise NotImplementedError("Task 12.1: A back end")


def lower_operator(name: str, node: Node, *operands: Any) -> Computed:
    """Lower an elementwise operator from the table in `operators.py`.

    As in PyTorch, an operator computes in a dtype to which it casts all operands: in `x > 0.5` with integers `x`,
    floats are compared. The result's elements have the dtype in which kernels compute with the node's dtype.
    """
    # Task 12.1: A line of the body has the dtype of the value that it computes. Given: `elementwise`; `operators.py`.
    raise NotImplementedError("Task 12.1: A back end")
