"""Functions of NVIDIA's device library that NumPy and `math` can compute. (Given.)

A symbol consists of `__nv_`, a name, and `f` for fp32. Results are as accurate as NumPy's, and mostly more accurate
than a GPU's.

Source: NVIDIA's libdevice user's guide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

from mini_triton.exact import floats
from mini_triton.exact.casts import saturated, toward_zero, widened
from mini_triton.exact.integers import mulhiui, unsigned

Array = Any
"""A NumPy array, or a NumPy scalar."""


def extern(symbol: str, *operands: Array) -> Array:
    """The function of a symbol, such as `__nv_tanhf`. Raises `LookupError` for a missing function."""
    name = symbol.removeprefix("__nv_").removeprefix("fast_")
    for spelling in (name, name.removesuffix("f"), name.removesuffix("d")):
        if spelling in FUNCTIONS:
            return FUNCTIONS[spelling](*operands)
    result = None
    if directed := re.fullmatch(r"[fd]?(add|sub|mul|div|sqrt|rcp|fma|rsqrt)f?_(r[nzdu])", name):
        result = _arithmetic(directed[1], directed[2], *operands)
    elif cast := re.fullmatch(r"(float|double|u?int|u?ll)2(float|double|u?int|u?ll)_(r[nzdu])", name):
        result = _cast(cast[1], cast[2], cast[3], *operands)
    if result is None:
        raise LookupError(f"the NumPy back end does not have {symbol} of libdevice")
    return result


# --- functions whose names contain a rounding mode


def _directed(x: Array, dtype: Any, rounding: str) -> Array:
    """Round a `float64` that is exact or rounded to odd: "rn" to nearest, "rz" toward zero, "rd" down, "ru" up."""
    if rounding == "rn" or dtype == np.float64:
        return x.astype(dtype)
    cut = toward_zero(x, dtype)
    if rounding == "rz":
        return cut
    too_short = cut > x if rounding == "rd" else cut < x
    return np.where(too_short, np.nextafter(cut, dtype(-np.inf if rounding == "rd" else np.inf)), cut)


def _arithmetic(name: str, rounding: str, *operands: Array) -> Array | None:
    """The results of `__nv_fadd_rd` and similar functions; None for fp64 with a mode other than "rn".

    A quotient or a root of fp32 numbers is so accurate in `float64` that rounding it again to fp32 is correct.
    """
    dtype = operands[0].dtype.type
    x, *others = (np.asarray(operand, np.float64) for operand in operands)
    if dtype == np.float64 and rounding != "rn":
        return None
    if dtype == np.float64 and name == "fma":
        return floats.fma(x, *others)
    if dtype == np.float32 and name in ("add", "sub", "fma"):
        terms = (x * others[0], others[1]) if name == "fma" else (x, others[0] if name == "add" else -others[0])
        return _directed(floats.odd(*floats.two_sum(*terms)), dtype, rounding)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}.get(name)
    result = function(x, *others) if function else np.reciprocal(x if name == "rcp" else np.sqrt(x))
    return _directed(result, dtype, rounding)


def _long_as_double(x: Array, rounding: str) -> Array:
    """A 64-bit integer as a `float64`: the nearest one, or its neighbor if the nearest is on the wrong side."""
    low = x & 0x7FF
    near, error = floats.two_sum((x - low).astype(np.float64), low.astype(np.float64))
    limit = np.where(near > 0, -np.inf, np.inf) if rounding == "rz" else -np.inf if rounding == "rd" else np.inf
    return np.where(error * limit > 0, np.nextafter(near, limit), near)


def _cast(source: str, target: str, rounding: str, x: Array) -> Array | None:
    """The results of `__nv_float2uint_rz` and similar casts."""
    x = unsigned(x) if source.startswith("u") else x
    if target in ("float", "double"):
        dtype = np.float32 if target == "float" else np.float64
        if target == "double" and source.endswith("ll") and rounding != "rn":
            return _long_as_double(x, rounding)
        return x.astype(dtype) if rounding == "rn" else _directed(widened(x), dtype, rounding)
    whole = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}[rounding](x)
    size = 8 if target.endswith("ll") else 4
    return saturated(whole, f"{'u' if target.startswith('u') else 'i'}{size}").view(f"i{size}")


# --- integers and bits


def _leading_zeros(x: Array) -> Array:
    x, width = unsigned(x), 8 * x.dtype.itemsize
    for shift in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        x = x | x >> shift
    return width - np.bitwise_count(x).astype(np.int32)


def _first_set(x: Array) -> Array:
    """The position of the lowest set bit, counted from 1; 0 if no bit is set."""
    x = unsigned(x)
    below = (x & -x) - np.ones_like(x)
    return np.where(x == 0, 0, np.bitwise_count(below) + 1).astype(np.int32)


def _reversed(x: Array) -> Array:
    bits, width = unsigned(x), 8 * x.dtype.itemsize
    result = np.zeros_like(bits)
    for place in range(width):
        result = result << 1 | bits >> place & 1
    return result.view(x.dtype)


def _permuted_bytes(x: Array, y: Array, selector: Array) -> Array:
    both = unsigned(y).astype(np.uint64) << 32 | unsigned(x)
    result = np.uint64(0)
    for place in range(4):
        chosen = unsigned(selector) >> 4 * place & 7
        result = result | (both >> (8 * chosen).astype(np.uint64) & 255) << 8 * place
    return result.astype(np.uint32).view(np.int32)


def _signed_upper_half(x: Array, y: Array) -> Array:
    """The upper half of a signed product. If a negative `x` is read as unsigned, the upper half is too large by `y`."""
    return mulhiui(x, y) - np.where(x < 0, y, x.dtype.type(0)) - np.where(y < 0, x, x.dtype.type(0))


def _wide(function: Callable[..., Array], signed: bool) -> Callable[..., Array]:
    """A function of `int32`, computed in 64 bits."""

    def narrow(*operands: Array) -> Array:
        read = operands if signed else map(unsigned, operands)
        return function(*(np.asarray(x).astype(np.int64) for x in read)).astype(np.int32)

    return narrow


def _both(name: str, unsigned_name: str, function: Callable[..., Array]) -> dict[str, Callable[..., Array]]:
    return {name: _wide(function, True), unsigned_name: _wide(function, False)}


def _24(x: Array) -> Array:
    """The lower 24 bits of a 64-bit integer, sign-extended."""
    return (x << 40) >> 40


# --- floats


def _one_by_one(function: Callable[..., float], pole: float = math.nan) -> Callable[..., Array]:
    """A function of Python floats, applied to arrays element by element."""

    def guarded(*numbers: float) -> float:
        try:
            return function(*numbers)
        except ValueError:
            return pole
        except OverflowError:
            return math.inf

    vector = np.vectorize(guarded, otypes=[np.float64])
    return lambda *operands: vector(*operands).astype(operands[0].dtype)


def _widely(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function computed in `float64`, so that an fp32 result is rounded only at the end."""
    return lambda *xs: function(*(np.asarray(x).astype(np.float64) for x in xs)).astype(xs[0].dtype)


def _to_int(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: function(x).astype(np.int32)


def _exponent(x: Array) -> Array:
    """The exponent of `x`, as a float: 0 if 1.0 <= |x| < 2.0, -inf for 0, and inf for infinities."""
    _, exponent = np.frexp(x)
    special = np.where(x == 0, -np.inf, np.abs(x))
    return np.where(np.isfinite(x) & (x != 0), exponent - 1, special).astype(x.dtype)


def _half_away(x: Array) -> Array:
    """The nearest integer; a tie is rounded away from zero."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(np.ones_like(x), x), whole)


def _turned(x: Array, quarters: int) -> Array:
    """The sine of `x` half turns plus `quarters` quarter turns; exactly 0, 1 or -1 at whole quarter turns."""
    x = np.fmod(x, 2)
    nearest = np.rint(2 * x)
    rest = np.pi * (x - nearest / 2)
    quarter = (nearest + quarters) % 4
    value = np.where(quarter % 2 == 0, np.sin(rest), np.cos(rest))
    return np.where(quarter >= 2, -value, value)


def _inverse_erf(x: float) -> float:
    """The inverse of `erf`; near 0, the sum of the first terms of its series."""
    if abs(x) < 1e-3:
        return math.sqrt(math.pi) / 2 * x * (1 + math.pi / 12 * x**2 + 7 * math.pi**2 / 480 * x**4)
    return _quantile((x + 1) / 2) / math.sqrt(2)


def _quantile(p: float) -> float:
    """The inverse of the normal distribution function."""
    return {0.0: -math.inf, 1.0: math.inf}[p] if p in (0.0, 1.0) else NormalDist().inv_cdf(p)


def _scaled_erfc(x: float) -> float:
    """`exp(x * x) * erfc(x)`; for large `x`, the sum of the first terms of its asymptotic series."""
    return math.exp(x * x) * math.erfc(x) if x < 25 else (1 - 0.5 / x**2 + 0.75 / x**4) / (x * math.sqrt(math.pi))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    **dict.fromkeys(("abs", "llabs"), np.abs),
    **dict.fromkeys(("clz", "clzll"), _leading_zeros),
    **dict.fromkeys(("popc", "popcll"), lambda x: np.bitwise_count(unsigned(x)).astype(np.int32)),
    **dict.fromkeys(("ffs", "ffsll"), _first_set),
    **dict.fromkeys(("brev", "brevll"), _reversed),
    **dict.fromkeys(("umulhi", "umul64hi"), mulhiui),
    **dict.fromkeys(("mulhi", "mul64hi"), _signed_upper_half),
    "byte_perm": _permuted_bytes,
    "mul24": _wide(lambda x, y: _24(x) * _24(y), True),
    "umul24": _wide(lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF), False),
    **_both("hadd", "uhadd", lambda x, y: x + y >> 1),
    **_both("rhadd", "urhadd", lambda x, y: x + y + 1 >> 1),
    **_both("sad", "usad", lambda x, y, z: np.abs(x - y) + z),
    **dict.fromkeys(("int_as_float", "uint_as_float"), lambda x: np.asarray(x).view(np.float32)),
    **dict.fromkeys(("float_as_int", "float_as_uint"), lambda x: np.asarray(x).view(np.int32)),
    "double2hiint": lambda x: (np.asarray(x).view(np.int64) >> 32).astype(np.int32),
    "double2loint": lambda x: np.asarray(x).view(np.int64).astype(np.int32),
    "hiloint2double": lambda x, y: (x.astype(np.int64) << 32 | y.astype(np.int64) & 0xFFFFFFFF).view(np.float64),
    "longlong_as_double": lambda x: np.asarray(x).view(np.float64),
    "double_as_longlong": lambda x: np.asarray(x).view(np.int64),
    **{name: getattr(np, name) for name in "sin cos tan sinh cosh tanh exp exp2 expm1 log log10 log1p log2".split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()},
    **{name: getattr(np, name) for name in "cbrt ceil floor hypot nextafter copysign rint sqrt trunc fmod".split()},
    "atan2": np.arctan2,
    "fabs": np.abs,
    "nearbyint": np.rint,
    "round": _half_away,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), x + y, x.dtype.type(0))),
    "remainder": _one_by_one(math.remainder),
    "pow": np.power,
    "powi": _widely(np.power),
    "fdivide": np.divide,
    "saturate": lambda x: np.fmin(np.fmax(x, 0), 1).astype(x.dtype),
    "erf": floats.erf,
    "fma": floats.fma,
    "rsqrt": _widely(lambda x: 1 / np.sqrt(x)),
    "rcbrt": _widely(lambda x: 1 / np.cbrt(x)),
    "rhypot": _widely(lambda x, y: 1 / np.hypot(x, y)),
    "norm3d": _widely(lambda x, y, z: np.hypot(np.hypot(x, y), z)),
    "rnorm3d": _widely(lambda x, y, z: 1 / np.hypot(np.hypot(x, y), z)),
    "norm4d": _widely(lambda x, y, z, w: np.hypot(np.hypot(x, y), np.hypot(z, w))),
    "rnorm4d": _widely(lambda x, y, z, w: 1 / np.hypot(np.hypot(x, y), np.hypot(z, w))),
    "exp10": _widely(lambda x: np.power(10.0, x)),
    "sinpi": _widely(lambda x: _turned(x, 0)),
    "cospi": _widely(lambda x: _turned(x, 1)),
    "erfc": _one_by_one(math.erfc),
    "erfcx": _one_by_one(_scaled_erfc),
    "erfinv": _one_by_one(_inverse_erf),
    "erfcinv": _one_by_one(lambda x: -_quantile(x / 2) / math.sqrt(2)),
    "normcdf": _one_by_one(lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    "normcdfinv": _one_by_one(_quantile),
    "lgamma": _one_by_one(math.lgamma, pole=math.inf),
    "tgamma": _one_by_one(lambda x: math.gamma(x) if x else math.copysign(math.inf, x)),
    "cyl_bessel_i0": _widely(lambda x: np.where(np.isinf(x), np.inf, np.i0(x).reshape(x.shape))),
    "logb": _exponent,
    "ilogb": lambda x: np.where(
        np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1, np.where(np.isinf(x), 2**31 - 1, -(2**31))
    ).astype(np.int32),
    **dict.fromkeys(("ldexp", "scalbn"), np.ldexp),
    "llrint": lambda x: saturated(np.rint(x), np.int64),
    "llround": lambda x: saturated(_half_away(x), np.int64),
    "signbit": _to_int(np.signbit),
    "isnan": _to_int(np.isnan),
    "isinf": _to_int(np.isinf),
    "finite": _to_int(np.isfinite),
    "isfinite": _to_int(np.isfinite),
}
