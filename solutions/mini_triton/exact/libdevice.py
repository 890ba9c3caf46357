"""NVIDIA's device library, function by function, as far as NumPy and `math` reach. (Given.)

A symbol is `__nv_`, a name, and `f` where it is of fp32. Results are as exact as NumPy's, mostly more so than a GPU's.

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


# --- rounded as the name says


def _directed(x: Array, dtype: Any, rounding: str) -> Array:
    """A `float64`, exact or rounded to odd, as a `float32`: "rn" to nearest, "rz" toward zero, "rd" down, "ru" up."""
    if rounding == "rn" or dtype == np.float64:
        return x.astype(dtype)
    cut = toward_zero(x, dtype)
    if rounding == "rz":
        return cut
    too_short = cut > x if rounding == "rd" else cut < x
    return np.where(too_short, np.nextafter(cut, dtype(-np.inf if rounding == "rd" else np.inf)), cut)


def _arithmetic(name: str, rounding: str, *operands: Array) -> Array | None:
    """`__nv_fadd_rd` and the like; None for an fp64 that is not to be rounded to nearest.

    A quotient or root of two fp32, as a `float64`, is never mistaken for an fp32 close to it.
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
    """An integer of 64 bits as a `float64`: the nearest, or that one's neighbour if it is on the wrong side."""
    low = x & 0x7FF
    near, error = floats.two_sum((x - low).astype(np.float64), low.astype(np.float64))
    limit = np.where(near > 0, -np.inf, np.inf) if rounding == "rz" else -np.inf if rounding == "rd" else np.inf
    return np.where(error * limit > 0, np.nextafter(near, limit), near)


def _cast(source: str, target: str, rounding: str, x: Array) -> Array | None:
    """`__nv_float2uint_rz` and the like."""
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
    """The place of the lowest bit that is set, counted from 1; 0 if none is."""
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
    """Of a negative number, read without a sign, the product is too large by the other one."""
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
    """The lower 24 bits of a number in 64, with their sign."""
    return (x << 40) >> 40


# --- floats


def _one_by_one(function: Callable[..., float], pole: float = math.nan) -> Callable[..., Array]:
    """A function of Python's floats, for arrays."""

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
    """A function computed in `float64`, so that fp32 is rounded at the end only."""
    return lambda *xs: function(*(np.asarray(x).astype(np.float64) for x in xs)).astype(xs[0].dtype)


def _to_int(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: function(x).astype(np.int32)


def _exponent(x: Array) -> Array:
    """That of `1.0 <= |x| < 2.0`, as a float: -inf of 0, inf of infinities."""
    _, exponent = np.frexp(x)
    special = np.where(x == 0, -np.inf, np.abs(x))
    return np.where(np.isfinite(x) & (x != 0), exponent - 1, special).astype(x.dtype)


def _half_away(x: Array) -> Array:
    """The nearest whole number; of two the one away from zero."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(np.ones_like(x), x), whole)


def _turned(x: Array, quarters: int) -> Array:
    """The sine of `x` half turns and so many quarters; at whole quarters it is 0, 1 or -1."""
    x = np.fmod(x, 2)
    nearest = np.rint(2 * x)
    rest = np.pi * (x - nearest / 2)
    quarter = (nearest + quarters) % 4
    value = np.where(quarter % 2 == 0, np.sin(rest), np.cos(rest))
    return np.where(quarter >= 2, -value, value)


def _inverse_erf(x: float) -> float:
    """The inverse of `erf`; around 0 by the beginning of its series."""
    if abs(x) < 1e-3:
        return math.sqrt(math.pi) / 2 * x * (1 + math.pi / 12 * x**2 + 7 * math.pi**2 / 480 * x**4)
    return _quantile((x + 1) / 2) / math.sqrt(2)


def _quantile(p: float) -> float:
    """The inverse of the normal distribution's function."""
    return {0.0: -math.inf, 1.0: math.inf}[p] if p in (0.0, 1.0) else NormalDist().inv_cdf(p)


def _scaled_erfc(x: float) -> float:
    """`exp(x * x) * erfc(x)`; far out by the beginning of its asymptotic series."""
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
