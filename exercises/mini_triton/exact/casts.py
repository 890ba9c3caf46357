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

from mini_triton.exact.integers import unsigned
from mini_triton.formats import BY_ARRAY

Array = Any
"""A NumPy array, or a NumPy scalar."""

NUMPY_FLOATS = (np.float16, np.float32, np.float64)
EXACT = 2**53  # integers beyond it may not fit in a float64


# --- float to float


def toward_zero(x: Array, dtype: Any) -> Array:
    """`x` in a narrower float type, rounded toward zero: cut off.

    Infinities stay. Numbers that are too large become the largest float.
    """
    # Task 6.12: `astype` gives one of two neighbours. Where it is the one away from zero, take the other: positive
    # floats are ordered as their bits are (`unsigned`), and infinity comes after the largest. Compare with the size of
    # `x` in the dtype of `x`, and give it the sign of `x` there: not every format has a negative zero.
    raise NotImplementedError("Task 6.12: Exact arithmetic")


def to_odd(x: Array) -> Array:
    """A `float64` as a `float32` that is equal, or else is the neighbour whose last bit is 1.

    Such a number lies on the same side of everything shorter as `x` does, and on nothing shorter. So it can be rounded
    again: the result is what `x` would be rounded to.
    """
    # Task 6.12: Cut off, then set the last bit where something was lost.
    raise NotImplementedError("Task 6.12: Exact arithmetic")


def rounded(x: Array, dtype: Any) -> Array:
    """A number, float or integer, in a float type: the nearest; of two the one whose last bit is 0."""
    # Task 6.12: `NUMPY_FLOATS` are NumPy's work. On their way to others, numbers that may be no `float32` go through
    # `widened`, which makes floats of integers, and `to_odd`.
    raise NotImplementedError("Task 6.12: Exact arithmetic")


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
    # Task 6.12: To fp8, which has one byte: clip to the largest, `ml_dtypes.finfo(dtype).max`. But "rtz" leaves
    # infinities where the format has one: `BY_ARRAY[dtype.name].infinity`. To a wider type there is nothing to round.
    raise NotImplementedError("Task 6.12: Exact arithmetic")


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
    # Task 6.12: `astype` cuts, but only what is in range: give it 0 for all else. Compare with limits that every float
    # type has, such as `2.0**31`, not `2**31 - 1`; -0.5 is in the range of `uint32`. `np.where` makes floats of large
    # Python integers, so give it NumPy's. Floats of `ml_dtypes` are better made `float32` first.
    raise NotImplementedError("Task 6.12: Exact arithmetic")


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
