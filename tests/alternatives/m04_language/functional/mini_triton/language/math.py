"""Mathematics, element by element: functions of floats, the larger and the smaller of two, a choice between two.

Kernels know this module as `tl.math` as well: `tl.math.exp2(x)` is `tl.exp2(x)`.

Source: Triton's `python/triton/language/math.py`, and `semantic.py` (`minimum`, `clamp`, `where`).
"""

from __future__ import annotations

import enum
from typing import Any

from mini_triton.language.context import builtin
from mini_triton.language.dtypes import bfloat16, dtype, float32, float64, int1, int32, int64, uint32, uint64
from mini_triton.language.tensor import broadcast_together, build, choose, convert, member, operands, tensor, to_tensor

__all__ = [
    *["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt", "erf", "floor", "ceil", "abs"],
    *["fdiv", "div_rn", "umulhi", "fma", "minimum", "maximum", "clamp", "where", "PropagateNan"],
]


class PropagateNan(enum.Enum):
    """What `maximum` and its like make of a NaN: `NONE` takes the other operand, `ALL` gives NaN."""

    NONE = "none"
    ALL = "all"


# --- functions of floats


def _floats(*xs: tensor) -> tuple[tensor, ...]:
    if any(not x.dtype.is_floating() for x in xs):
        raise TypeError(f"Unexpected dtype {xs[0].dtype}: only floats are supported")
    return xs


def apply(name: str, *xs: Any, accepted: tuple[dtype, ...] = (float32, float64)) -> tensor:
    """Operation `name` on one operand or on two, which are promoted and broadcast. A number has its own dtype.

    Raises `ValueError`, "Expected dtype ['fp32', 'fp64'] but got fp16", for a tensor whose dtype is not accepted.
    """

    def checked(x: Any) -> Any:
        if isinstance(x, tensor) and not any(x.dtype == d for d in accepted):
            raise ValueError(f"Expected dtype {[d.name for d in accepted]} but got {x.dtype}")
        return x

    ready = [to_tensor(checked(x)) for x in [*map(checked, xs)]]
    return build(name, *ready) if len(ready) == 1 else build(name, *operands(*ready))


@member
@builtin
def exp(x: Any) -> tensor:
    """e to the power of `x`. As most functions here it takes fp32 and fp64 only: GPUs have it for no narrower float."""
    return apply("math.exp", x)


@member
@builtin
def exp2(x: Any) -> tensor:
    """2 to the power of `x`; GPUs have an instruction for it."""
    return apply("math.exp2", x)


@member
@builtin
def log(x: Any) -> tensor:
    """The natural logarithm."""
    return apply("math.log", x)


@member
@builtin
def log2(x: Any) -> tensor:
    """The logarithm to base 2."""
    return apply("math.log2", x)


@member
@builtin
def sin(x: Any) -> tensor:
    """The sine."""
    return apply("math.sin", x)


@member
@builtin
def cos(x: Any) -> tensor:
    """The cosine."""
    return apply("math.cos", x)


@member
@builtin
def sqrt(x: Any) -> tensor:
    """The square root; GPUs approximate it."""
    return apply("math.sqrt", x)


@member
@builtin
def sqrt_rn(x: Any) -> tensor:
    """The square root, rounded to nearest. fp32 only."""
    return apply("tt.precise_sqrt", x, accepted=(float32,))


@member
@builtin
def rsqrt(x: Any) -> tensor:
    """1 / sqrt(x)"""
    return apply("math.rsqrt", x)


@member
@builtin
def erf(x: Any) -> tensor:
    """The error function."""
    return apply("math.erf", x)


@member
@builtin
def floor(x: Any) -> tensor:
    """The largest whole number that is not above `x`, as a float."""
    return apply("math.floor", x)


@member
@builtin
def ceil(x: Any) -> tensor:
    """The smallest whole number that is not below `x`, as a float."""
    return apply("math.ceil", x)


@builtin
def div_rn(x: Any, y: Any) -> tensor:
    """`x / y`, rounded to nearest. fp32 only."""
    return apply("tt.precise_divf", x, y, accepted=(float32,))


@builtin
def umulhi(x: Any, y: Any) -> tensor:
    """The upper half of `x * y`: the product of two unsigned 32-bit integers has 64 bits. Signs are not looked at."""
    return apply("tt.mulhiui", x, y, accepted=(int32, int64, uint32, uint64))


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: bool = False) -> tensor:
    """`x / y` of floats that have one dtype already. `ieee_rounding` is accepted, but says nothing to Triton 3.6.

    Raises `TypeError` for anything else.
    """
    x, y = to_tensor(x), to_tensor(y)
    if x.dtype != y.dtype or x.dtype.is_ptr() or not x.dtype.is_floating():
        raise TypeError(f"both operands of fdiv must have the same floating scalar type, got {x.dtype} and {y.dtype}")
    return build("arith.divf", *broadcast_together(x, y))


# --- of any numbers


@member
@builtin
def abs(x: Any) -> tensor:
    """The absolute value, in the dtype of `x`. Raises `TypeError` for pointers."""
    x = to_tensor(x)
    name = choose(x.dtype, "math.absf", "math.absi", " ")
    return build(name, x) if name.strip() else x


def without_bfloat16(x: Any) -> tensor:
    """`x` as a tensor, and bf16 as fp32: GPUs cannot compare bf16. (Given.)"""
    x = to_tensor(x)
    return convert(x, float32) if x.dtype == bfloat16 else x


def extremum(word: str, x: Any, y: Any, propagate_nan: PropagateNan) -> tensor:
    """The larger of two, or the smaller one; `word` is "max" or "min".

    Raises `ValueError` for floats with a `propagate_nan` that is none of `PropagateNan`'s.
    """

    def name(dtype: Any) -> str:
        if not dtype.is_floating():
            return f"{word}{'s' if dtype.signed else 'u'}i"
        try:
            return word + {PropagateNan.NONE: "num", PropagateNan.ALL: "imum"}[propagate_nan] + "f"
        except KeyError:
            raise ValueError(f"Unexpected propagate_nan {propagate_nan}") from None

    pair = operands(*map(without_bfloat16, (x, y)))
    return build(f"arith.{name(pair[0].dtype)}", *pair)


@builtin
def minimum(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> tensor:
    """The smaller of `x` and `y`, element by element."""
    return extremum("min", x, y, propagate_nan)


@builtin
def maximum(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> tensor:
    """The larger of `x` and `y`, element by element."""
    return extremum("max", x, y, propagate_nan)


@builtin
def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> tensor:
    """`x`, but not below `min` and not above `max`. Floats only: `TypeError` for others."""
    low, high = operands(without_bfloat16(min), without_bfloat16(max))
    value, low = operands(without_bfloat16(x), low)
    value, high = operands(value, high)
    if not value.dtype.is_floating():
        raise TypeError(f"only floats can be clamped, not {value.dtype}")
    return build("tt.clampf", value, low, high, propagateNan="all" if propagate_nan is PropagateNan.ALL else "none")


@builtin
def fma(x: Any, y: Any, z: Any) -> tensor:
    """`x * y + z`, rounded once. Floats only: `TypeError` for others."""
    a, b = operands(*map(to_tensor, (x, y)))
    c, a = operands(to_tensor(z), a)
    c, b = operands(c, b)
    return build("math.fma", *_floats(a, b, c))


@builtin
def where(condition: Any, x: Any, y: Any) -> tensor:
    """`x` where the condition holds, else `y`: both are computed, and one of each two elements is taken.

    The values are promoted as by an operator, numbers are weak, and pointers may be among them. All three are
    broadcast. Raises `TypeError` for values that do not come to one dtype.
    """

    def same(a: tensor, b: tensor) -> tuple[tensor, tensor]:
        if repr(a.dtype) != repr(b.dtype):
            raise TypeError(f"{a.dtype} and {b.dtype}: where takes one dtype")
        return a, b

    values = same(*operands(x, y, pointers=True))
    return build(
        "arith.select", *broadcast_together(convert(to_tensor(condition), int1), *values), dtype=values[0].dtype
    )
