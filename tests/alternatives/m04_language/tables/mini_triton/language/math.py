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


def kind_of(x: tensor) -> str:
    """How the elements are computed with; `TypeError` for pointers."""
    return choose(x.dtype, "float", "signed", "unsigned")


ABSOLUTE: dict[str, Any] = {
    "float": lambda x: build("math.absf", x),
    "signed": lambda x: build("math.absi", x),
    "unsigned": lambda x: x,
}
EXTREMA = {
    ("float", PropagateNan.NONE): "numf",
    ("float", PropagateNan.ALL): "imumf",
    ("signed", None): "si",
    ("unsigned", None): "ui",
}


def _together(values: list[tensor], pairs: tuple[tuple[int, int], ...]) -> None:
    """Promote and broadcast these pairs, in this order."""
    for i, j in pairs:
        values[i], values[j] = operands(values[i], values[j])


def _only_floats(what: str, x: tensor) -> None:
    if kind_of(x) != "float":
        raise TypeError(f"Unexpected dtype {x.dtype} for {what}")


def apply(name: str, *xs: Any, accepted: tuple[dtype, ...] = (float32, float64)) -> tensor:
    """Operation `name` on one operand or on two, which are promoted and broadcast. A number has its own dtype.

    Raises `ValueError`, "Expected dtype ['fp32', 'fp64'] but got fp16", for a tensor whose dtype is not accepted.
    """
    names = [d.name for d in accepted]
    refused = [x.dtype for x in xs if isinstance(x, tensor) and x.dtype not in accepted]
    if refused:
        raise ValueError(f"Expected dtype {names} but got {refused[0]}")
    fit = {1: lambda x: (x,), 2: operands}[len(xs)]
    return build(name, *fit(*map(to_tensor, xs)))


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
    return ABSOLUTE[kind_of(x)](x)


def without_bfloat16(x: Any) -> tensor:
    """`x` as a tensor, and bf16 as fp32: GPUs cannot compare bf16. (Given.)"""
    x = to_tensor(x)
    return convert(x, float32) if x.dtype == bfloat16 else x


def extremum(word: str, x: Any, y: Any, propagate_nan: PropagateNan) -> tensor:
    """The larger of two, or the smaller one; `word` is "max" or "min".

    Raises `ValueError` for floats with a `propagate_nan` that is none of `PropagateNan`'s.
    """
    x, y = operands(without_bfloat16(x), without_bfloat16(y))
    kind = kind_of(x)
    key = propagate_nan if kind == "float" else None
    if (kind, key) not in EXTREMA:
        raise ValueError(f"Unexpected propagate_nan {propagate_nan}")
    return build(f"arith.{word}{EXTREMA[kind, key]}", x, y)


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
    values = [*map(without_bfloat16, (x, min, max))]
    _together(values, ((1, 2), (0, 1), (0, 2)))
    _only_floats("clamp", values[0])
    return build("tt.clampf", *values, propagateNan=propagate_nan.value)


@builtin
def fma(x: Any, y: Any, z: Any) -> tensor:
    """`x * y + z`, rounded once. Floats only: `TypeError` for others."""
    values = [*map(to_tensor, (x, y, z))]
    _together(values, ((0, 1), (2, 0), (2, 1)))
    _only_floats("fma", values[0])
    return build("math.fma", *values)


@builtin
def where(condition: Any, x: Any, y: Any) -> tensor:
    """`x` where the condition holds, else `y`: both are computed, and one of each two elements is taken.

    The values are promoted as by an operator, numbers are weak, and pointers may be among them. All three are
    broadcast. Raises `TypeError` for values that do not come to one dtype.
    """
    condition = convert(to_tensor(condition), int1)
    pair = operands(x, y, pointers=True)
    dtypes = {value.dtype for value in pair}
    if len(dtypes) > 1:
        raise TypeError(f"where cannot choose between {pair[0].dtype} and {pair[1].dtype}")
    return build("arith.select", *broadcast_together(condition, *pair), dtype=dtypes.pop())
