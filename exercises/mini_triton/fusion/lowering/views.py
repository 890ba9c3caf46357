"""Views: the same elements at different indices. No data moves.

Source: `ReinterpretView` and its siblings in PyTorch's `torch/_inductor/ir.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
from torch.fx import Node

from mini_triton.fusion.indexing import Index, broadcast_index, index_before, sympify
from mini_triton.fusion.lowering.graph import Unsupported, lowers, tensor_of
from mini_triton.fusion.tensors import Tensor, View, sizes_of


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
    shape = sizes_of(node.meta["val"])
    return view(node, x, lambda index: index_before(index, shape, x.shape))


@lowers("permute")
def lower_permute(node: Node, x: Tensor, axes: Sequence[int]) -> View:
    # Task 12.2: Dimension n of the result is dimension `axes[n]` of `x`, and -1 means the last dimension.
    raise NotImplementedError("Task 12.2: Views")


@lowers("expand")
def lower_expand(node: Node, x: Tensor, *_: Any, **__: Any) -> View:
    return view(node, x, lambda index: broadcast_index(index, x.shape))


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
    # Task 12.2: For axis 1, the result is x[:, start:end:step]; `node` already tells its size. Given: `clamp_bound`.
    raise NotImplementedError("Task 12.2: Views")
