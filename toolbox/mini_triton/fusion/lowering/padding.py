"""Padding. (Given.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Node

from mini_triton.fusion.body import Body, Value
from mini_triton.fusion.indexing import Index, sympify
from mini_triton.fusion.lowering.elementwise import operand
from mini_triton.fusion.lowering.graph import ZERO, elementwise, lowers
from mini_triton.fusion.lowering.pieces import inside_of, where_all
from mini_triton.fusion.operators import computed_in
from mini_triton.fusion.tensors import Computed, Tensor


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
