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
    near = np.asarray(x).astype(dtype)
    table = np.array([0, 1], unsigned(near).dtype)
    return (unsigned(near) - table[(np.abs(near.astype(x.dtype)) > np.abs(x)).astype(int)]).view(dtype)


def to_odd(x: Array) -> Array:
    """A `float64` as a `float32` that is equal, or else is the neighbour whose last bit is 1.

    Such a number lies on the same side of everything shorter as `x` does, and on nothing shorter. So it can be rounded
    again: the result is what `x` would be rounded to.
    """
    cut = toward_zero(x, np.float32)
    table = np.array([0, 1], np.uint32)
    return (unsigned(cut) | table[np.asarray(cut.astype(x.dtype) != x).astype(int)]).view(np.float32)


def rounded(x: Array, dtype: Any) -> Array:
    """A number, float or integer, in a float type: the nearest; of two the one whose last bit is 0."""
    ways = {
        "numpy": lambda: x.astype(dtype),
        "short": lambda: x.astype(dtype),
        "long": lambda: to_odd(widened(x)).astype(dtype),
    }
    short = x.dtype.itemsize < 4 or x.dtype == np.dtype(np.float32)
    return ways["numpy" if np.dtype(dtype).type in NUMPY_FLOATS else "short" if short else "long"]()


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
    cut = rounding == "rtz"
    clipped = {
        (np.dtype(ml_dtypes.float8_e5m2), False),
        (np.dtype(ml_dtypes.float8_e4m3fn), False),
        (np.dtype(ml_dtypes.float8_e4m3fn), True),
    }
    if (dtype, cut) in clipped:
        x = x if x.dtype == np.float64 else x.astype(np.float32)
        limit = x.dtype.type(ml_dtypes.finfo(dtype).max)
        x = np.clip(x, -limit, limit)
    ways = {True: toward_zero, False: rounded}
    return ways[cut and dtype.itemsize < x.dtype.itemsize](x, dtype)


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
    kind = info.dtype.type
    x = x if x.dtype.type in NUMPY_FLOATS else x.astype(np.float32)
    limit = 2.0 ** (info.bits - (info.kind == "i"))
    nans = {(64, "i"): info.min, (64, "u"): 2**63}
    if x.dtype == np.float64:
        nans |= {(bits, "i"): -(2 ** (bits - 1)) for bits in (8, 16, 32)}
        nans |= {(bits, "u"): 2 ** (bits - 1) for bits in (8, 16, 32)}
    conditions = [np.isnan(x), x >= limit, x < float(info.min) if info.kind == "i" else x < 0]
    answers = [kind(nans.get((info.bits, info.kind), 0)), kind(info.max), kind(info.min)]
    usual = np.where(conditions[0] | conditions[1] | conditions[2], x.dtype.type(0), x).astype(dtype)
    return np.select(conditions, answers, usual)


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
