"""Casts between floats, and between floats and integers.

A cast rounds once. NumPy keeps to that, but for the floats of `ml_dtypes` (bf16, fp8): whatever is cast to them becomes
an fp32 on the way, and may be rounded twice.

Source: NVIDIA's PTX ISA, `cvt`: that is what Triton makes of casts. S. Boldo and G. Melquiond, "When double rounding is
odd" (2005).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from mini_triton.codegen.library.exact.integers import unsigned

Array = Any
"""A NumPy array, or a NumPy scalar."""

NUMPY_FLOATS = (np.float16, np.float32, np.float64)
EXACT = 2**53  # integers beyond it may not fit in a float64


# --- float to float


def toward_zero(x: Array, dtype: Any) -> Array:
    """`x` in a narrower float type, rounded toward zero: cut off.

    Infinities stay. Numbers that are too large become the largest float.
    """
    near = np.asarray(x.astype(dtype))
    back = near.astype(x.dtype)
    return np.subtract(unsigned(near), np.abs(back) > np.abs(x), dtype=unsigned(near).dtype).view(dtype)


def to_odd(x: Array) -> Array:
    """A `float64` as a `float32` that is equal, or else is the neighbour whose last bit is 1.

    Such a number lies on the same side of everything shorter as `x` does, and on nothing shorter. So it can be rounded
    again: the result is what `x` would be rounded to.
    """
    cut = toward_zero(x, np.float32)
    return np.bitwise_or(unsigned(cut), (cut.astype(x.dtype) != x).astype(np.uint32)).view(np.float32)


def rounded(x: Array, dtype: Any) -> Array:
    """A number, float or integer, in a float type: the nearest; of two the one whose last bit is 0."""
    exactly = np.dtype(dtype) in map(np.dtype, NUMPY_FLOATS) or x.dtype == np.float32 or x.dtype.itemsize < 3
    return (x if exactly else to_odd(widened(x))).astype(dtype)


def widened(x: Array) -> Array:
    """A number as a `float64`, rounded to odd at the twelfth bit where it does not fit. (Given.)"""
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        low = x & 0x7FF
        x = np.where((x > EXACT) | (x < -EXACT), (x - low) | ((low != 0) * x.dtype.type(0x800)), x)
    return x.astype(np.float64)


def truncf(x: Array, dtype: Any) -> Array:
    """A float in a narrower float type. (Given.)"""
    return rounded(x, dtype)


def fp_to_fp(x: Array, dtype: Any, rounding: str) -> Array:
    """A float in another float type; where it is rounded, "rtz" is toward zero, all else to nearest.

    What is too large for an fp8 becomes the largest fp8, an infinity as well. NaN stays NaN.
    """
    dtype = np.dtype(dtype)
    saturates = dtype.itemsize == 1 and (dtype == ml_dtypes.float8_e4m3fn or rounding != "rtz")
    shorter = dtype.itemsize < x.dtype.itemsize
    wide = x.astype(np.promote_types(np.float32, x.dtype if x.dtype == np.float64 else np.float32)) if saturates else x
    limit = float(ml_dtypes.finfo(dtype).max)
    clipped = wide.clip(-limit, limit) if saturates else wide
    return (toward_zero if rounding == "rtz" and shorter else rounded)(clipped, dtype)


# --- integer to float


def sitofp(x: Array, dtype: Any) -> Array:
    """A signed integer as a float. (Given.)"""
    return rounded(x, dtype)


def uitofp(x: Array, dtype: Any) -> Array:
    """An unsigned integer as a float. (Given.)"""
    return rounded(unsigned(x), dtype)


# --- float to integer


def saturated(x: Array, dtype: Any) -> Array:
    """A float cut to an integer of NumPy's type `dtype`; out of its range the last that is in it.

    NaN is 0. But if the integer has 64 bits, or `x` is a `float64`, NaN is the integer whose top bit alone is set.
    """
    info, kind = np.iinfo(dtype), np.dtype(dtype).type
    x = np.asarray(x) if x.dtype in NUMPY_FLOATS else np.asarray(x, np.float32)
    whole = np.trunc(x)
    fits = (whole >= float(info.min)) & (whole < 2.0 ** (info.bits - (info.min < 0)))
    top_bit = np.array(1 << info.bits - 1, f"u{info.bits // 8}").view(dtype)[()]
    nan = top_bit if x.dtype == np.float64 or info.bits == 64 else kind(0)
    result = np.full(x.shape, nan)
    for where, value in ((x > 0, kind(info.max)), (x < 0, kind(info.min))):
        result = np.where(where, value, result)
    return np.where(fits, np.where(fits, whole, x.dtype.type(0)).astype(dtype), result)


def fptosi(x: Array, dtype: Any) -> Array:
    """A float as a signed integer; GPUs make 16 bits where 8 are asked for, and drop the upper ones. (Given.)"""
    dtype = np.dtype(dtype)
    return saturated(x, np.int16).astype(dtype) if dtype.itemsize == 1 else saturated(x, dtype)


def fptoui(x: Array, dtype: Any) -> Array:
    """A float as an unsigned integer, with the bits of the signed `dtype`. (Given.)"""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 1:
        return saturated(x, np.uint16).astype(dtype)
    return saturated(x, f"u{dtype.itemsize}").view(dtype)
