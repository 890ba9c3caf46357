"""Floats: maximum and minimum, fused multiply-add, exponential and error function.

Source: IEEE 754-2019, 9.6; MLIR's `ArithOps.td`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from mini_triton.exact.casts import rounded

Array = Any
"""A NumPy array, or a NumPy scalar."""


# --- maximum and minimum


def maximumf(x: Array, y: Array) -> Array:
    """The elementwise maximum, or NaN if either number is NaN. 0.0 counts as larger than -0.0. (Given.)"""
    return with_zero(np.maximum(x, y), x, y, 0.0)


def maxnumf(x: Array, y: Array) -> Array:
    """The elementwise maximum; if one number is NaN, the other. 0.0 counts as larger than -0.0. (Given.)"""
    return with_zero(np.fmax(x, y), x, y, 0.0)


def minimumf(x: Array, y: Array) -> Array:
    """The elementwise minimum, or NaN if either number is NaN. -0.0 counts as smaller than 0.0. (Given.)"""
    return with_zero(np.minimum(x, y), x, y, -0.0)


def minnumf(x: Array, y: Array) -> Array:
    """The elementwise minimum; if one number is NaN, the other. -0.0 counts as smaller than 0.0. (Given.)"""
    return with_zero(np.fmin(x, y), x, y, -0.0)


def with_zero(result: Array, x: Array, y: Array, zero: float) -> Array:
    """`result`, with `zero` where `x` and `y` are zeros of different signs."""
    # [task 6.12] Result [0.0, 1.0], x [0.0, 1.0], y [-0.0, 0.5] and zero -0.0 give [-0.0, 1.0]. The dtype does not
    # change. If no element changes, which is nearly always the case, return `result` itself, because a copy costs time.
    different = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
    return np.where(different, result.dtype.type(zero), result) if different.any() else result
    # [end]


def clampf(x: Array, low: Array, high: Array, propagate_nan: str) -> Array:
    """`x`, limited to the range from `low` to `high`. NaN stays NaN for "all"; it becomes `low` for "none". (Given.)"""
    if propagate_nan == "all":
        return minimumf(maximumf(x, low), high)
    return minnumf(maxnumf(x, low), high)


# --- fused multiply-add


def fma(x: Array, y: Array, z: Array) -> Array:
    """`x * y + z`, rounded once, as if the product were exact. (Given.)"""
    if x.dtype == np.float64:
        return wide_fma(x, y, z)
    product = x.astype(np.float64) * y.astype(np.float64)  # exact
    return rounded(odd(*two_sum(product, z.astype(np.float64))), x.dtype)


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """`x + y`, and its rounding error. (Given.)"""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def odd(total: Array, error: Array) -> Array:
    """`total + error`, rounded to odd. `total` is the float nearest to this sum. (Given.)"""
    bits = np.asarray(total).view(np.int64)
    even = (np.abs(error) > 0) & (bits & 1 == 0)
    away = (error > 0) == (total > 0)
    return (bits + np.where(away, even, -even.astype(np.int64))).view(np.float64)


def wide_fma(x: Array, y: Array, z: Array) -> Array:
    """`fma` for `float64`. Pairs of floats hold each sum and product exactly, without overflow or underflow. (Given.)

    Source: S. Boldo, G. Melquiond, Emulation of FMA and Correctly Rounded Sums, IEEE Transactions on Computers 57(4).
    """
    product, lost = two_product(x, y)
    carry, rest = two_sum(z, lost)
    total, more = two_sum(product, carry)
    fits = (np.abs(z) < 2.0**1000) & moderate(x) & moderate(y)
    result = np.where(fits, total + odd(*two_sum(rest, more)), x * y + z)
    rare = ~fits & np.isfinite(x) & np.isfinite(y) & np.isfinite(z) & (x != 0) & (y != 0)
    if rare.any():
        operands = (operand[rare] for operand in np.broadcast_arrays(x, y, z))
        result[rare] = [fma_of_fractions(*map(float, numbers)) for numbers in zip(*operands, strict=True)]
    return result


def moderate(x: Array) -> Array:
    """Whether numbers are so moderate that the product of any two neither overflows nor underflows. (Given.)"""
    return (np.abs(x) < 2.0**450) & (np.abs(x) > 2.0**-450)


def two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """`x * y`, and its rounding error, computed from the halves of each factor. (Given.)"""
    product = x * y
    (high, low), (other_high, other_low) = halves(x), halves(y)
    return product, ((high * other_high - product) + high * other_low + low * other_high) + low * other_low


def halves(x: Array) -> tuple[Array, Array]:
    """The upper 26 bits of a float, and the rest. (Given.)"""
    large = x * (2.0**27 + 1)
    high = large - (large - x)
    return high, x - high


def fma_of_fractions(x: float, y: float, z: float) -> float:
    """`fma` for finite numbers, where `x` and `y` are not zero. (Given.)"""
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


# --- exponential and error function


def exp2(x: Array) -> Array:
    """2 to the power of `x`, faster than in NumPy where the result is 0, as in a masked softmax. (Given.)"""
    if x.dtype != np.float32 or not np.ndim(x):
        return np.exp2(x)
    vanishes = np.less_equal(x, np.float32(-150))
    return np.exp2(x, out=np.zeros_like(x), where=~vanishes) if vanishes.any() else np.exp2(x)


def erf(x: Array) -> Array:
    """The error function; in fp32, accurate to two units in the last place. (Given.)

    Source: N. Juffa's polynomials for fp32, a minimax approximation on either side of 0.9277.
    """
    if x.dtype == np.float64:
        return np.vectorize(math.erf, otypes=[np.float64])(x)
    a = x.astype(np.float32)
    t, s = np.abs(a), a * a
    far = _polynomial(t, FAR)
    near = _polynomial(s, NEAR)
    return np.where(t > 0.927734375, np.copysign(1 - np.exp(far * t - t), a), near * a + a).astype(x.dtype)


FAR = (-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1, -6.34846687e-1, -1.28717512e-1)
NEAR = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Evaluate a polynomial by Horner's rule."""
    result = np.float32(coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + np.float32(coefficient)
    return result


def multiply(a: Array, b: Array, c: Array) -> Array:
    """`c + a @ b`, computed in fp32 if `c` is narrower than fp32."""
    wide = c.dtype if c.dtype.itemsize >= 4 else np.dtype(np.float32)
    return (np.matmul(a.astype(wide), b.astype(wide)) + c).astype(c.dtype)
