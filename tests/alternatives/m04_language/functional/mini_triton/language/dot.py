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
    (*stack, _, k), (*other_stack, other_k, _) = ((1, 1, *x.shape)[-max(2, len(x.shape)) :] for x in (a, b))
    if min(len(a.shape), len(b.shape)) < 2 or len(stack) != len(other_stack):
        raise ValueError(f"input and other must have equal ranks >= 2: {a}, {b}")
    if stack != other_stack:
        raise ValueError(f"input and other must have equal batch shapes: {a}, {b}")
    if k != other_k:
        raise ValueError(f"input and other must have equal reduction dimensions: {a}, {b}")
    dtypes = {a.dtype, b.dtype}
    if not all(d.is_fp8() for d in dtypes) and not (len(dtypes) == 1 and dtypes <= {float16, *SUMMED_IN}):
        raise TypeError(f"Both operands must be same dtype. Got {a.dtype} and {b.dtype}")
    if k < 16 * (1 + (a.dtype.width == 8)):
        raise ValueError(f"K >= {16 * (1 + (a.dtype.width == 8))}")


def _sum_dtype(a: dtype, acc: tensor | None, out_dtype: dtype | None) -> dtype:
    """The dtype of the product: the one that `SUMMED_IN` gives, else `out_dtype`, else that of `acc`, else fp32.

    Raises `ValueError` for bf16, which nothing is summed in.
    """
    asked = out_dtype or getattr(acc, "dtype", None) or float32
    if (asked, a.is_floating()) == (bfloat16, True):
        raise ValueError("out_dtype=bfloat16 is unsupported")
    return SUMMED_IN[a] if a in SUMMED_IN else asked


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
    dtype, shape = _sum_dtype(input.dtype, acc, out_dtype), (*input.shape[:-1], *other.shape[-1:])
    c = zeros(shape, dtype) if acc is None else acc
    if c.shape != shape:
        raise ValueError(f"accumulator shape is incompatible: {c}")
    if c.dtype != dtype:
        raise TypeError(f"{c} is no {dtype}")
    how = {"inputPrecision": precision, "maxNumImpreciseAcc": _imprecise(input, other, max_num_imprecise_acc)}
    product = build("tt.dot", *map(_stack, (input, other, c)), dtype=dtype, **how)
    return product if len(shape) < 4 else reshape(product, *shape)


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
