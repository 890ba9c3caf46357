"""Casts between floats, and between floats and integers.

A cast rounds once. NumPy's casts also round once, except casts to the floats of `ml_dtypes` (bf16, fp8), which go
through fp32 and may round twice.

Source: NVIDIA's PTX ISA, `cvt`, the instruction to which Triton compiles casts; S. Boldo and G. Melquiond, "When double
rounding is odd" (2005).
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from mini_triton.exact.integers import unsigned
from mini_triton.formats import BY_ARRAY

Array = Any
"""A NumPy array, or a NumPy scalar."""

NUMPY_FLOATS = (np.float16, np.float32, np.float64)
EXACT = 2**53  # integers beyond it may not fit in a float64


# --- float to float


def toward_zero(x: Array, dtype: Any) -> Array:
    """`x` in the narrower float type `dtype`, rounded toward zero.

    Infinities stay infinite. Finite numbers that are too large become the largest finite float, with their sign. If the
    format has no infinity, `fp_to_fp` has already clamped `x`.
    """
    # [task 6.12] In bf16, 1.9999 becomes 1.9921875, although `astype` returns 2.0. In fp16, 70000.0 becomes 65504.0. In
    # `float8_e4m3fnuz`, which has no negative zero, -0.0009 becomes 0.0. Neighboring floats have neighboring bits: in
    # bf16, 0x3F7F is 0.99609375, 0x3F80 is 1.0, and 0x3F81 is 1.0078125.
    size = np.abs(x)
    near = size.astype(dtype)
    away = near.astype(x.dtype) > size
    cut = (unsigned(near) - away).view(dtype)
    return np.copysign(cut.astype(x.dtype), x).astype(dtype)
    # [end]


def to_odd(x: Array) -> Array:
    """A `float64` as a `float32`: equal to `x` if possible, or else the neighbor of `x` whose last bit is 1.

    This neighbor and `x` lie on the same side of every narrower float, and of every midpoint between two narrower
    floats. Therefore, rounding this neighbor to a narrower type gives the same result as rounding `x`.
    """
    # [task 6.12] 1 + 2**-30 lies between 1.0 (last bit 0) and 1 + 2**-23 (last bit 1), so the result is 1 + 2**-23.
    cut = toward_zero(x, np.float32)
    return (unsigned(cut) | (cut != x)).view(np.float32)
    # [end]


def rounded(x: Array, dtype: Any) -> Array:
    """A float or integer, rounded once to the nearest float of `dtype`; a tie goes to the float whose last bit is 0."""
    # [task 6.12] As bf16, the float64 1 + 2**-8 + 2**-30 is 1.0078125, and the int32 2**24 + 2**16 + 1 is 2**24 +
    # 2**17, although `astype` returns 1.0 and 2**24. As fp16, any number is what `astype` returns. Given: `widened`.
    if dtype in NUMPY_FLOATS or x.dtype.itemsize <= 2 or x.dtype == np.float32:
        return x.astype(dtype)
    return to_odd(widened(x)).astype(dtype)
    # [end]


def widened(x: Array) -> Array:
    """A number as a `float64`, rounded to odd at bit 11 if it does not fit. (Given.)"""
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        low = x & 0x7FF
        x = np.where((x > EXACT) | (x < -EXACT), (x - low) | ((low != 0) * x.dtype.type(0x800)), x)
    return x.astype(np.float64)


def truncf(x: Array, dtype: Any) -> Array:
    """A float in a narrower float type. (Given.)"""
    return rounded(x, dtype)


def fp_to_fp(x: Array, dtype: Any, rounding: str) -> Array:
    """`x` rounded to a float `dtype`: toward zero if `rounding` is "rtz" and `dtype` is narrower, else to nearest.

    Numbers too large for an fp8, including infinities, become the largest finite fp8, with their sign. However, "rtz"
    keeps an infinity if the format has one, even if `dtype` is not narrower. NaN stays NaN. (Given.)
    """
    dtype = np.dtype(dtype)
    if dtype.itemsize == 1 and (rounding != "rtz" or BY_ARRAY[dtype.name].infinity is None):
        largest = float(ml_dtypes.finfo(dtype).max)
        x = np.clip(x.astype(np.float64 if x.dtype == np.float64 else np.float32), -largest, largest)
    if rounding == "rtz" and dtype.itemsize < x.dtype.itemsize:
        return toward_zero(x, dtype)
    return rounded(x, dtype)


# --- integer to float


def sitofp(x: Array, dtype: Any) -> Array:
    """A signed integer as a float. (Given.)"""
    return rounded(x, dtype)


def uitofp(x: Array, dtype: Any) -> Array:
    """An unsigned integer as a float. (Given.)"""
    return rounded(unsigned(x), dtype)


# --- float to integer


def saturated(x: Array, dtype: Any) -> Array:
    """A float truncated to an integer of NumPy's type `dtype`. A float out of range becomes the nearest limit.

    NaN becomes 0. However, if the integer has 64 bits, or if `x` is a `float64`, NaN becomes the integer in which only
    the top bit is set.
    """
    # [task 6.12] As int8, 3.9 is 3, 300.0 is 127, and -inf is -128. As uint32, -0.5 is 0. As int64, 2.0**63 is 2**63 -
    # 1, and NaN is -2**63. `astype` is defined only for numbers in range.
    info = np.iinfo(dtype)
    x = x if x.dtype in NUMPY_FLOATS else x.astype(np.float32)
    inside = (x > float(info.min - 1)) & (x < float(info.max + 1))
    if inside.all():
        return x.astype(dtype)
    wide = info.bits == 64 or x.dtype == np.float64
    nan = 0 if not wide else info.min or info.max // 2 + 1
    low, high, other = map(info.dtype.type, (info.min, info.max, nan))
    outside = np.where(x > 0, high, np.where(x < 0, low, other))
    return np.where(inside, np.where(inside, x, 0).astype(dtype), outside)
    # [end]


def fptosi(x: Array, dtype: Any) -> Array:
    """A float as a signed integer. For 8 bits, GPUs compute 16 bits and drop the upper 8. (Given.)"""
    dtype = np.dtype(dtype)
    return saturated(x, np.int16).astype(dtype) if dtype.itemsize == 1 else saturated(x, dtype)


def fptoui(x: Array, dtype: Any) -> Array:
    """A float as an unsigned integer, with the bits of the signed `dtype`. (Given.)"""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 1:
        return saturated(x, np.uint16).astype(dtype)
    return saturated(x, f"u{dtype.itemsize}").view(dtype)
