"""Functions that kernels could have written themselves. (Given.)

Source: Triton's `python/triton/language/standard.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.language.context import builtin
from mini_triton.language.math import exp, fdiv, minimum
from mini_triton.language.reduction import max, sum
from mini_triton.language.tensor import member, tensor

__all__ = ["sigmoid", "softmax", "swizzle2d"]


@member
@builtin
def sigmoid(x: tensor) -> tensor:
    """1 / (1 + exp(-x)), for fp32 and fp64."""
    return 1 / (1 + exp(-x))


@member
@builtin
def softmax(x: tensor, dim: int | None = None, keep_dims: bool = False, ieee_rounding: bool = False) -> tensor:
    """exp(x) divided by its sum along `dim`, which is 0 if not given; computed so that no exponential overflows."""
    dim = 0 if dim is None else dim
    numerator = exp(x - max(x, dim, keep_dims=keep_dims))
    return fdiv(numerator, sum(numerator, dim, keep_dims=keep_dims), ieee_rounding)


@builtin
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Where tile (i, j) of a matrix is if tiles are walked down the columns of groups of `size_g` rows.

    Neighbours in launch order then share rows and columns, and find them in the cache.
    """
    position = i * size_j + j
    group_size = size_g * size_j
    first_row = position // group_size * size_g
    rows = minimum(size_i - first_row, size_g)  # the last group may have fewer
    position = position % group_size
    return first_row + position % rows, position // rows
