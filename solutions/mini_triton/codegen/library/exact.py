"""Arithmetic exactly as the IR means it, on NumPy scalars and arrays of any shape.

NumPy agrees with the IR where nothing is listed here: integers wrap around, and float operations round to nearest even.

Source: MLIR's `ArithOps.td`; what a GPU does where the IR leaves it open (out-of-range casts).
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

Array = Any
"""A NumPy array, or a NumPy scalar."""

UNSIGNED = {np.dtype(f"int{bits}"): np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)}
UNSIGNED[np.dtype(bool)] = np.dtype(np.uint8)


def unsigned(x: Array) -> Array:
    """The same bits, read as unsigned integers."""
    return np.asarray(x).view(UNSIGNED[x.dtype])


def signed(x: Array, like: Array) -> Array:
    """The opposite of `unsigned`: the same bits in the dtype of `like`."""
    return x.view(like.dtype) if like.dtype != bool else x.astype(bool)


def divsi(x: Array, y: Array) -> Array:
    """Signed division that truncates toward zero."""
    return ((x - np.fmod(x, y)) // y).astype(x.dtype)


def remsi(x: Array, y: Array) -> Array:
    """Signed remainder with the sign of `x`."""
    return np.fmod(x, y)


def divui(x: Array, y: Array) -> Array:
    return signed(unsigned(x) // unsigned(y), x)


def remui(x: Array, y: Array) -> Array:
    return signed(unsigned(x) % unsigned(y), x)


def shli(x: Array, y: Array) -> Array:
    return np.left_shift(x, y)


def shrsi(x: Array, y: Array) -> Array:
    return np.right_shift(x, y)


def shrui(x: Array, y: Array) -> Array:
    return signed(np.right_shift(unsigned(x), unsigned(y)), x)


def maxui(x: Array, y: Array) -> Array:
    return signed(np.maximum(unsigned(x), unsigned(y)), x)


def minui(x: Array, y: Array) -> Array:
    return signed(np.minimum(unsigned(x), unsigned(y)), x)


def mulhiui(x: Array, y: Array) -> Array:
    """The upper half of the product of unsigned integers, of 32 bits or of 64."""
    if x.dtype == np.int32:
        product = unsigned(x).astype(np.uint64) * unsigned(y)
        return (product >> np.uint64(32)).astype(np.uint32).view(np.int32)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = unsigned(x), unsigned(y)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    carry = a0 * b1 + (middle & low)
    return signed(a1 * b1 + (middle >> half) + (carry >> half), x)


def compare(predicate: str, x: Array, y: Array) -> Array:
    """The predicates that are no Python operator: of unsigned integers, of floats that may be NaN."""
    functions = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    functions |= {"gt": np.greater, "ge": np.greater_equal}
    if not np.issubdtype(x.dtype, np.integer) and x.dtype != bool:
        nan = (x != x) | (y != y)
        match predicate:
            case "false" | "true":
                return np.full(nan.shape, predicate == "true")
            case "ord" | "uno":
                return nan if predicate == "uno" else ~nan
            case "one":
                return (x != y) & ~nan
        return functions[predicate[1:]](x, y) | nan
    return functions[predicate[1:]](unsigned(x), unsigned(y))


def extsi(x: Array, dtype: type) -> Array:
    """To a wider integer, or to a float by way of one: `i1` true is -1."""
    return -x.astype(dtype) if x.dtype == bool else x.astype(dtype)


def extui(x: Array, dtype: type) -> Array:
    return unsigned(x).astype(dtype) if x.dtype != bool else x.astype(dtype)


def trunci(x: Array, dtype: type) -> Array:
    return (x & 1).astype(bool) if dtype == np.bool_ else x.astype(dtype)


def uitofp(x: Array, dtype: type) -> Array:
    return unsigned(x).astype(dtype)


def fptosi(x: Array, dtype: type) -> Array:
    """Toward zero; what is out of range becomes the nearest that is in it, and NaN zero, as on a GPU."""
    info = np.iinfo(dtype)
    return _saturated(x, float(info.min), float(info.max), dtype)


def fptoui(x: Array, dtype: type) -> Array:
    wide = UNSIGNED[np.dtype(dtype)]
    return _saturated(x, 0.0, float(np.iinfo(wide).max), wide.type).view(dtype)


def _saturated(x: Array, low: float, high: float, dtype: type) -> Array:
    x = np.nan_to_num(np.asarray(x).astype(np.float64), nan=0.0, posinf=high, neginf=low)
    info = np.iinfo(dtype)
    inside = np.clip(x, low, np.nextafter(high, 0) if high == float(2**63) or high == float(2**64) else high)
    result = np.trunc(inside).astype(dtype)
    return np.where(x >= high, np.asarray(info.max, dtype), result)


def fp_to_fp(x: Array, dtype: type, rounding: str) -> Array:
    """Between floats with a stated rounding; to fp8 what is too large becomes the largest."""
    dtype = np.dtype(dtype)
    if rounding == "rtz" and dtype.itemsize < x.dtype.itemsize:
        return _toward_zero(x, dtype)
    if dtype.itemsize > 1:
        return x.astype(dtype)
    largest = float(ml_dtypes.finfo(dtype).max)
    wide = np.asarray(x).astype(np.float32)
    return np.where(np.isnan(wide), wide, np.clip(wide, -largest, largest)).astype(dtype)


def _toward_zero(x: Array, dtype: np.dtype) -> Array:
    near = x.astype(dtype)
    bits = near.view(np.dtype(f"u{dtype.itemsize}"))
    away = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
    return np.where(away, bits - 1, bits).astype(bits.dtype).view(dtype)


def bitcast(x: Array, dtype: type) -> Array:
    return np.asarray(x).view(dtype)


def clampf(x: Array, low: Array, high: Array, nan: str) -> Array:
    """Between two bounds. NaN stays NaN if it propagates; else it is ignored, and the bounds are left."""
    if nan == "all":
        return np.minimum(np.maximum(x, low), high)
    return np.fmin(np.fmax(x, low), high)


def rsqrt(x: Array) -> Array:
    return (1 / np.sqrt(x)).astype(x.dtype)


def fma(x: Array, y: Array, z: Array) -> Array:
    """`x * y + z`, rounded once: exactly so for floats of 32 bits and less, but for rare ties."""
    if x.dtype == np.float64:
        return x * y + z
    return (x.astype(np.float64) * y + z).astype(x.dtype)


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


EXTERN = {
    "tanh": np.tanh,
    "pow": np.power,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tan": np.tan,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asin": np.arcsin,
    "acos": np.arccos,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log10": np.log10,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "rint": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x),
    "trunc": np.trunc,
    "cbrt": np.cbrt,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "isnan": lambda x: np.isnan(x).astype(np.int32),
    "isinf": lambda x: np.isinf(x).astype(np.int32),
}


def extern(symbol: str, *xs: Array) -> Array:
    """A function of CUDA's device library, by its symbol: `__nv_tanhf`."""
    name = symbol.removeprefix("__nv_")
    function = EXTERN.get(name) or EXTERN.get(name.removesuffix("f").removesuffix("d"))
    if function is None:
        raise NotImplementedError(f"{symbol} is not known to the NumPy back end")
    return function(*xs)
