"""Functions that consist only of other functions of the language. (Given.)

Source: Triton's `python/triton/language/standard.py`.
"""

from __future__ import annotations

import operator
from typing import Any

from mini_triton import language
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import int1
from mini_triton.language.math import exp, fdiv, maximum, minimum
from mini_triton.language.reduction import keep_index, max, sum
from mini_triton.language.tensor import add, bitwise, member, mul, tensor, unify

__all__ = ["sigmoid", "softmax", "swizzle2d"]


@member
@builtin
def sigmoid(x: tensor) -> tensor:
    """1 / (1 + exp(-x)), for fp32 and fp64."""
    return 1 / (1 + exp(-x))


@member
@builtin
def softmax(x: tensor, dim: int | None = None, keep_dims: bool = False, ieee_rounding: bool = False) -> tensor:
    """exp(x) divided by its sum along `dim`, by default 0. The largest `x` is subtracted first to avoid overflow."""
    dim = 0 if dim is None else dim
    numerator = exp(x - max(x, dim, keep_dims=keep_dims))
    return fdiv(numerator, sum(numerator, dim, keep_dims=keep_dims), ieee_rounding)


@builtin
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Map tile (i, j), in row-major order, to a tile in grouped order: column by column in groups of `size_g` rows.

    Consecutive programs then use the same rows and columns of the matrices, and find them in the cache.
    """
    position = i * size_j + j
    group_size = size_g * size_j
    first_row = position // group_size * size_g
    rows = minimum(size_i - first_row, size_g)  # the last group may have fewer
    position = position % group_size
    return first_row + position % rows, position // rows


@member
@builtin
def logical_and(x: tensor, other: Any) -> tensor:
    """`x and other`, element by element; both must be int1."""
    return _logical("arith.andi", x, other)


@member
@builtin
def logical_or(x: tensor, other: Any) -> tensor:
    """`x or other`, element by element; both must be int1."""
    return _logical("arith.ori", x, other)


def _logical(name: str, x: tensor, other: Any) -> tensor:
    x, y = unify(x, other)
    if x.dtype != int1:
        raise TypeError(f"a logical operation takes int1, not {x.dtype}: compare with something first")
    return bitwise(name, x, y)


# --- combine functions of Triton's own reductions, which kernels may use: `tl.standard._sum_combine`

_sum_combine = add
_prod_combine = mul
_xor_combine = builtin(operator.xor)
_or_combine = builtin(operator.or_)
_elementwise_max = maximum
_elementwise_min = minimum
_argmax_combine_tie_break_left = builtin(keep_index("gt", tie_break_left=True))
_argmax_combine_tie_break_fast = builtin(keep_index("gt", tie_break_left=False))
_argmin_combine_tie_break_left = builtin(keep_index("lt", tie_break_left=True))
_argmin_combine_tie_break_fast = builtin(keep_index("lt", tie_break_left=False))


@builtin
def _log2(i: int) -> int:
    """The exponent of the largest power of two that does not exceed `i`."""
    return i.bit_length() - 1


@builtin
def _is_power_of_two(i: int) -> bool:
    return i & (i - 1) == 0 and i != 0


def __getattr__(name: str) -> Any:
    """This module also has every name of the language."""
    return getattr(language, name)
