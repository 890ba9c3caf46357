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
    bits = unsigned(near).copy()
    too_far = np.abs(back) > np.abs(x)
    one = bits.dtype.type(1)
    bits = np.where(too_far, bits - one, bits)
    return bits.view(dtype)


def to_odd(x: Array) -> Array:
    """A `float64` as a `float32` that is equal, or else is the neighbour whose last bit is 1.

    Such a number lies on the same side of everything shorter as `x` does, and on nothing shorter. So it can be rounded
    again: the result is what `x` would be rounded to.
    """
    cut = np.asarray(toward_zero(x, np.float32))
    bits = unsigned(cut)
    lost = cut.astype(np.float64) != x
    lost = lost & ~np.isnan(x)
    return np.where(lost, bits | np.uint32(1), bits).view(np.float32)


def rounded(x: Array, dtype: Any) -> Array:
    """A number, float or integer, in a float type: the nearest; of two the one whose last bit is 0."""
    for known in NUMPY_FLOATS:
        if np.dtype(dtype) == np.dtype(known):
            return x.astype(dtype)
    if x.dtype == np.float32:
        return x.astype(dtype)
    if x.dtype.itemsize == 1 or x.dtype.itemsize == 2:
        return x.astype(dtype)
    wide = widened(x)
    narrow = to_odd(wide)
    return narrow.astype(dtype)


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
    cutting = rounding == "rtz"
    to_fp8 = dtype.itemsize == 1
    if to_fp8:
        keeps_infinity = cutting and dtype == np.dtype(ml_dtypes.float8_e5m2)
        if not keeps_infinity:
            if x.dtype != np.float64:
                x = x.astype(np.float32)
            largest = x.dtype.type(float(ml_dtypes.finfo(dtype).max))
            x = np.minimum(x, largest)
            x = np.maximum(x, -largest)
    if dtype.itemsize >= x.dtype.itemsize:
        return x.astype(dtype)
    if cutting:
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
    """A float cut to an integer of NumPy's type `dtype`; out of its range the last that is in it.

    NaN is 0. But if the integer has 64 bits, or `x` is a `float64`, NaN is the integer whose top bit alone is set.
    """
    info = np.iinfo(dtype)
    if x.dtype not in [np.dtype(known) for known in NUMPY_FLOATS]:
        x = x.astype(np.float32)
    too_large = x >= 2.0 ** (info.bits - 1 if info.min < 0 else info.bits)
    if info.min < 0:
        too_small = x < float(info.min)
        if info.bits < 64:
            too_small = x <= float(info.min) - 1.0
    else:
        too_small = x <= -1.0
    is_nan = np.isnan(x)
    for_nan = 0
    if info.bits == 64 or x.dtype == np.float64:
        if info.min < 0:
            for_nan = info.min
        else:
            for_nan = 2 ** (info.bits - 1)
    kind = np.dtype(dtype).type
    safe = np.where(too_large | too_small | is_nan, np.zeros_like(x), x)
    result = np.asarray(safe.astype(dtype))
    result = np.where(too_large, kind(info.max), result)
    result = np.where(too_small, kind(info.min), result)
    result = np.where(is_nan, kind(for_nan), result)
    return result


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
