"""Matrix products, the work that GPUs have tensor cores for.

Source: `dot` in Triton's `python/triton/language/semantic.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mini_triton.language.context import builtin
from mini_triton.language.creation import zeros
from mini_triton.language.dtypes import bfloat16, dtype, float16, float32, float64, int8, int32
from mini_triton.language.shape import reshape
from mini_triton.language.tensor import build, tensor

__all__ = ["dot"]

SUMMED_IN = {int8: int32, bfloat16: float32, float32: float32, float64: float64}
"""The dtype in which products are summed. For fp16 and fp8 there is a choice: `out_dtype`."""

PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
IMPRECISE_SUMS = 2**30  # of fp8 products: so many may be summed in the few bits that the tensor cores of sm_90 have


def _check_operands(a: tensor, b: tensor) -> None:
    """Matrices, or stacks of them, whose sizes and dtypes fit.

    Raises `ValueError` for sizes that do not fit or are too small, naming them, and `TypeError` for dtypes.
    """
    if len(a.shape) < 2 or len(b.shape) < 2 or len(a.shape) != len(b.shape):
        raise ValueError("input and other must have equal ranks >= 2")
    for i in range(len(a.shape) - 2):
        if a.shape[i] != b.shape[i]:
            raise ValueError("input and other must have equal batch shapes")
    k = a.shape[-1]
    if k != b.shape[-2]:
        raise ValueError("input and other must have equal reduction dimensions")
    if a.dtype.is_fp8() and b.dtype.is_fp8():
        pass
    else:
        supported = (int8, float16, bfloat16, float32, float64)
        if a.dtype not in supported or b.dtype not in supported:
            raise TypeError(f"Unsupported dtypes {a.dtype} and {b.dtype}")
        if a.dtype != b.dtype:
            raise TypeError(f"Both operands must be same dtype. Got {a.dtype} and {b.dtype}")
    if a.dtype.width == 8 and k < 32:
        raise ValueError("Input shapes should have K >= 32")
    if k < 16:
        raise ValueError("Input shapes should have K >= 16")


def _sum_dtype(a: dtype, acc: tensor | None, out_dtype: dtype | None) -> dtype:
    """The dtype of the product: the one that `SUMMED_IN` gives, else `out_dtype`, else that of `acc`, else fp32.

    Raises `ValueError` for bf16, which nothing is summed in.
    """
    if out_dtype is None:
        if acc is None:
            out_dtype = float32
        else:
            out_dtype = acc.dtype
    if a == int8:
        return int32
    if out_dtype == bfloat16:
        raise ValueError("out_dtype=bfloat16 is unsupported")
    if a == bfloat16 or a == float32:
        return float32
    if a == float64:
        return float64
    return out_dtype


@builtin
def dot(
    input: tensor,
    other: tensor,
    acc: tensor | None = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: dtype | None = None,
) -> tensor:
    """`acc + input @ other` for matrices, or for stacks of matrices. Without `acc` there is nothing to add to.

    Raises `ValueError` and `TypeError` for operands that do not fit, and for an `acc` of another shape or dtype.
    """
    precision = _precision(input_precision, allow_tf32)
    _check_operands(input, other)
    imprecise = _imprecise(input, other, max_num_imprecise_acc)
    dtype = _sum_dtype(input.dtype, acc, out_dtype)
    shape = list(input.shape)
    shape[-1] = other.shape[-1]
    if acc is None:
        acc = zeros(shape, dtype)
    elif list(acc.shape) != shape:
        raise ValueError("accumulator shape is incompatible")
    elif acc.dtype != dtype:
        raise TypeError(f"accumulator is {acc.dtype}, product is {dtype}")
    a = _stack(input)
    b = _stack(other)
    c = _stack(acc)
    result = build("tt.dot", a, b, c, dtype=dtype, inputPrecision=precision, maxNumImpreciseAcc=imprecise)
    if list(result.shape) != shape:
        result = reshape(result, shape)
    return result


def _precision(input_precision: str | None, allow_tf32: bool | None) -> str:
    """How fp32 is multiplied: "tf32" keeps 10 bits of the mantissa, "ieee" all of them. (Given.)"""
    if input_precision is None:
        return "ieee" if allow_tf32 is False else "tf32"
    if allow_tf32 is not None:
        raise ValueError("Only one of input_precision and allow_tf32 can be specified")
    if input_precision.lower() not in PRECISIONS:
        raise ValueError(f"input_precision must be one of {PRECISIONS}. Got {input_precision}")
    return input_precision.lower()


def _imprecise(a: tensor, b: tensor, number: int | None) -> int:
    """How many fp8 products may be summed before they are added to an fp32: all, unless it is said. (Given.)"""
    if not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        return number or 0
    if number is not None and number > a.shape[-1]:
        raise ValueError(f"max_num_imprecise_acc ({number}) must be <= K ({a.shape[-1]})")
    return IMPRECISE_SUMS if number is None else number


def _stack(x: tensor) -> tensor:
    """More than three dimensions as three, as `tt.dot` wants it. (Given.)"""
    shape: Sequence[int] = x.shape
    return x if len(shape) <= 3 else reshape(x, (math.prod(shape[:-2]), *shape[-2:]))
