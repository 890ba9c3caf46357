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
from mini_triton.exact.integers import unsigned
from mini_triton.exact.libdevice import integers

Array = Any
"""A NumPy array, or a NumPy scalar."""


def extern(symbol: str, *operands: Array) -> Array:
    """The function of a symbol, such as `__nv_tanhf`. Raises `LookupError` for those that are missing."""
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
        return floats.wide_fma(x, *others)
    if dtype == np.float32 and name in ("add", "sub", "fma"):
        terms = (x * others[0], others[1]) if name == "fma" else (x, others[0] if name == "add" else -others[0])
        return _directed(floats.odd(*floats.two_sum(*terms)), dtype, rounding)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}.get(name)
    result = function(x, *others) if function else np.reciprocal(x if name == "rcp" else np.sqrt(x))
    return _directed(result, dtype, rounding)


def _cast(source: str, target: str, rounding: str, x: Array) -> Array | None:
    """`__nv_float2uint_rz` and the like; None for an fp64 of 64 bits that is not to be rounded to nearest."""
    x = unsigned(x) if source.startswith("u") else x
    if target in ("float", "double"):
        dtype = np.float32 if target == "float" else np.float64
        if target == "double" and source.endswith("ll") and rounding != "rn":
            return None
        return x.astype(dtype) if rounding == "rn" else _directed(widened(x), dtype, rounding)
    whole = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}[rounding](x)
    size = 8 if target.endswith("ll") else 4
    return saturated(whole, f"{'u' if target.startswith('u') else 'i'}{size}").view(f"i{size}")


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
    **integers.FUNCTIONS,
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
