"""Matrix products, for which GPUs have tensor cores.

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
"""The dtype in which products are summed. For fp16 and fp8, `out_dtype` selects it."""

PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
IMPRECISE_SUMS = 2**30  # how many fp8 products sm_90's tensor cores may sum in reduced precision


def _check_operands(a: tensor, b: tensor) -> None:
    """Check that the operands are matrices, or stacks of matrices, whose sizes and dtypes match.

    Raises `ValueError` for sizes that do not match or are too small, and `TypeError` for dtypes that do not match or
    are not supported. The messages name the sizes or dtypes.
    """
    # [task 4.9] Which checks, in which order, give all rows of this table, which quotes a part of each message?
    # `SUMMED_IN` and its docstring tell for which dtypes sums are defined.
    #     fp16[16], fp16[16]                      ValueError "equal ranks"
    #     fp16[16, 16], fp32[2, 16, 8]            ValueError "equal ranks"
    #     fp16[2, 16, 8], fp32[4, 16, 8]          ValueError "equal batch shapes"
    #     fp16[16, 8], int32[16, 8]               ValueError "equal reduction dimensions"
    #     int32[8, 8], fp16[8, 8]                 TypeError "int32"
    #     fp16[8, 8], fp32[8, 8]                  TypeError "same dtype"
    #     fp8e5[32, 32], fp8e4nv[32, 32]          no error
    #     fp16[16, 8], fp16[8, 16]                ValueError "K >= 16"
    #     int8[32, 16], int8[16, 32]              ValueError "K >= 32"
    if len(a.shape) != len(b.shape) or len(a.shape) < 2:
        raise ValueError(f"input and other must have equal ranks >= 2, got {list(a.shape)} and {list(b.shape)}")
    if a.shape[:-2] != b.shape[:-2]:
        raise ValueError(f"input and other must have equal batch shapes, got {list(a.shape)} and {list(b.shape)}")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"input and other must have equal reduction dimensions, got {list(a.shape)} and {list(b.shape)}"
        )
    if not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        for side, operand in (("lhs", a), ("rhs", b)):
            if operand.dtype not in (*SUMMED_IN, float16):
                raise TypeError(f"Unsupported {side} dtype {operand.dtype}")
        if a.dtype != b.dtype:
            raise TypeError(f"Both operands must be same dtype. Got {a.dtype} and {b.dtype}")
    least = 32 if a.dtype.width == 8 else 16
    if a.shape[-1] < least:
        raise ValueError(f"Input shapes should have M >= 1, N >= 1 and K >= {least}, got K = {a.shape[-1]}")
    # [end]


def _sum_dtype(a: dtype, acc: tensor | None, out_dtype: dtype | None) -> dtype:
    """The dtype of the product of two operands of dtype `a`. In this table, None is omitted:

        a      acc    out_dtype   result        a      acc    out_dtype   result
        fp16                      fp32          fp32   fp16               fp32
        fp16          fp16        fp16          bf16          fp16        fp32
        fp16   fp16               fp16          bf16          bf16        ValueError
        fp16   fp16   fp32        fp32          fp32   bf16               ValueError
        int8          bf16        int32         fp32   bf16   fp16        fp32

    Tensor cores cannot sum floats in bf16. The message of the `ValueError` contains "out_dtype=bfloat16 is
    unsupported".
    """
    # [task 4.9] Which rule gives all rows of the table? Given: `SUMMED_IN`.
    out_dtype = out_dtype or (acc.dtype if acc is not None else float32)
    if out_dtype == bfloat16 and a.is_floating():
        advice = "Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`"
        raise ValueError(f"out_dtype=bfloat16 is unsupported. {advice}")
    return SUMMED_IN.get(a, out_dtype)
    # [end]


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
    """`acc + input @ other` for matrices, or for stacks of matrices; without `acc`, only the product.

    Raises `ValueError` or `TypeError` for incompatible operands, and for an `acc` of the wrong shape or dtype.
    """
    precision = _precision(input_precision, allow_tf32)
    # [task 4.9] The product of an fp16[2, 4, 16, 32] and an fp16[2, 4, 32, 8] is an fp32[2, 4, 16, 8]. If the shape of
    # `acc` differs from the product's, raise a ValueError whose message contains "accumulator shape". If the dtype
    # differs, raise a TypeError that names both dtypes. The attributes of `tt.dot` are `inputPrecision` and
    # `maxNumImpreciseAcc`. Given: `_imprecise`, `_stack`.
    _check_operands(input, other)
    dtype = _sum_dtype(input.dtype, acc, out_dtype)
    shape = (*input.shape[:-1], other.shape[-1])
    if acc is None:
        acc = zeros(shape, dtype)
    if acc.shape != shape:
        raise ValueError(f"accumulator shape is incompatible: {list(acc.shape)}, not {list(shape)}")
    if acc.dtype != dtype:
        raise TypeError(f"the accumulator has dtype {acc.dtype}, but the product {dtype}")
    a, b, c = (_stack(x) for x in (input, other, acc))
    imprecise = _imprecise(input, other, max_num_imprecise_acc)
    product = build("tt.dot", a, b, c, inputPrecision=precision, maxNumImpreciseAcc=imprecise, dtype=dtype)
    return product if product.shape == shape else reshape(product, shape)
    # [end]


def _precision(input_precision: str | None, allow_tf32: bool | None) -> str:
    """The precision of fp32 products: "tf32" keeps 10 bits of the mantissa, "ieee" all bits. (Given.)"""
    if input_precision is None:
        return "ieee" if allow_tf32 is False else "tf32"
    if allow_tf32 is not None:
        raise ValueError("Only one of input_precision and allow_tf32 can be specified")
    if input_precision.lower() not in PRECISIONS:
        raise ValueError(f"input_precision must be one of {PRECISIONS}. Got {input_precision}")
    return input_precision.lower()


def _imprecise(a: tensor, b: tensor, number: int | None) -> int:
    """How many fp8 products may be summed before their sum is added to an fp32; by default, all. (Given.)"""
    if not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        return number or 0
    if number is not None and number > a.shape[-1]:
        raise ValueError(f"max_num_imprecise_acc ({number}) must be <= K ({a.shape[-1]})")
    return IMPRECISE_SUMS if number is None else number


def _stack(x: tensor) -> tensor:
    """Reshape more than three dimensions to three, as `tt.dot` requires. (Given.)"""
    shape: Sequence[int] = x.shape
    return x if len(shape) <= 3 else reshape(x, (math.prod(shape[:-2]), *shape[-2:]))
