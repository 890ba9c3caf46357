"""Elementwise mathematics: functions of floats, minimum and maximum, and selection.

Kernels can also use this module as `tl.math`: `tl.math.exp2(x)` is `tl.exp2(x)`.

Source: Triton's `python/triton/language/math.py`, and `semantic.py` (`minimum`, `clamp`, `where`).
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any

from mini_triton.compat.missing import explain_missing
from mini_triton.ir.ops.elementwise import ROWS, TABLE, Exposed, one_float
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import bfloat16, float32, int1
from mini_triton.language.tensor import broadcast_together, build, choose, convert, member, tensor, to_tensor, unify

__all__ = ["fdiv", "abs", "fma", "minimum", "maximum", "clamp", "where", "PropagateNan"]


class PropagateNan(enum.Enum):
    """How `minimum`, `maximum` and `clamp` treat a NaN operand: `NONE` ignores it, `ALL` returns NaN."""

    NONE = "none"
    ALL = "all"


# --- functions of floats


def apply(name: str, *xs: Any, accepted: tuple[str, ...]) -> tensor:
    """Build operation `name` on one operand, or on two operands, which are promoted and broadcast.

    A number first becomes a tensor of its own dtype. Raises a `ValueError` with a message such as "Expected dtype
    ['fp32', 'fp64'] but got fp16" for a tensor whose dtype is not in `accepted`.
    """
    # [task 4.7] For an fp32[8] `x`, `apply("math.exp", x, accepted=("fp32", "fp64"))` is an fp32[8]. Check each tensor
    # before promotion: an int32 beside an fp32 is rejected. Numbers are not checked.
    for x in xs:
        if isinstance(x, tensor) and str(x.dtype) not in accepted:
            raise ValueError(f"Expected dtype {list(accepted)} but got {x.dtype}")
    tensors = map(to_tensor, xs)
    return build(name, *(unify(*tensors) if len(xs) == 2 else tensors))
    # [end]


def expose(name: str, exposed: Exposed) -> Callable[..., tensor]:
    """The function of the language that builds operation `name`. A function of one operand is also a method."""

    def of_one(x: Any) -> tensor:
        refuse_integers(exposed, x)
        return apply(name, x, accepted=exposed.accepted)

    def of_two(x: Any, y: Any) -> tensor:
        refuse_integers(exposed, x, y)
        return apply(name, x, y, accepted=exposed.accepted)

    unary = TABLE[name].rule is one_float
    function = of_one if unary else of_two
    function.__name__ = function.__qualname__ = exposed.name
    function.__doc__ = exposed.doc
    return member(builtin(function)) if unary else builtin(function)


def refuse_integers(exposed: Exposed, *xs: Any) -> None:
    """Raise `TypeError` if all operands of a function of floats are compile-time integers. (Given.)"""
    if "fp32" in exposed.accepted and all(isinstance(x, int) for x in xs):
        name, integers, floats = exposed.name, ", ".join(map(str, xs)), ", ".join(map(str, map(float, xs)))
        raise TypeError(
            f"tl.{name} takes floats, not {integers}: write tl.{name}({floats}), or float(N) for a compile-time value N"
        )


FUNCTIONS = {row.tl.name: expose(row.name, row.tl) for row in ROWS if row.tl}
globals().update(FUNCTIONS)
__all__ += FUNCTIONS


def __getattr__(name: str) -> Any:
    """Find a function of libdevice, such as `tanh`: older versions of Triton had `tl.math.tanh`. (Given.)"""
    if not name.startswith("_"):
        from mini_triton.language.extra import libdevice  # `libdevice` imports this module

        if hasattr(libdevice, name):
            return getattr(libdevice, name)
    raise AttributeError(explain_missing("tl.math", name))


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: bool = False) -> tensor:
    """`x / y` of floats of the same dtype. `ieee_rounding` has no effect, as in Triton 3.6.

    Raises `TypeError` unless both operands are floats of the same dtype.
    """
    x, y = to_tensor(x), to_tensor(y)
    if x.dtype != y.dtype or x.dtype.is_ptr() or not x.dtype.is_floating():
        raise TypeError(
            f"both operands of fdiv must have floating scalar type, and the same one, not {x.dtype} and {y.dtype}"
        )
    return build("arith.divf", *broadcast_together(x, y))


# --- functions of all numbers


@member
@builtin
def abs(x: Any) -> tensor:
    """The absolute value of each element of `x`, in the dtype of `x`. Raises `TypeError` for pointers."""
    # [task 4.7] Build `math.absf` for floats, and `math.absi` for signed integers; return an unsigned `x` unchanged.
    x = to_tensor(x)
    name = choose(x.dtype, "math.absf", "math.absi", "nothing to do")
    return x if name == "nothing to do" else build(name, x)
    # [end]


def without_bfloat16(x: Any) -> tensor:
    """`x` as a tensor, with bf16 converted to fp32, because not every GPU can compare bf16. (Given.)"""
    x = to_tensor(x)
    return convert(x, float32) if x.dtype == bfloat16 else x


def extremum(word: str, x: Any, y: Any, propagate_nan: PropagateNan) -> tensor:
    """The maximum or the minimum of `x` and `y`, element by element; `word` is "max" or "min".

    A number is not weak: it first becomes a tensor of its own dtype. Raises `ValueError` if the promoted dtype is a
    float dtype and `propagate_nan` is not a `PropagateNan`.
    """
    # [task 4.7] For an fp16 and the number 2.0, "max" builds an fp32 `arith.maxnumf`, or `arith.maximumf` if
    # `propagate_nan` is ALL. For bf16, the result is an fp32. For integers, build `arith.maxsi` or `arith.maxui`,
    # whatever `propagate_nan` is. For "min", these names contain `min` instead of `max`. Given: `without_bfloat16`,
    # which returns a tensor and converts bf16 to fp32.
    x, y = unify(without_bfloat16(x), without_bfloat16(y))
    if x.dtype.is_floating() and not isinstance(propagate_nan, PropagateNan):
        raise ValueError(f"Unexpected propagate_nan {propagate_nan}")
    kind = "imum" if propagate_nan is PropagateNan.ALL else "num"
    return build(choose(x.dtype, f"arith.{word}{kind}f", f"arith.{word}si", f"arith.{word}ui"), x, y)
    # [end]


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
    """`x`, limited to the range from `min` to `max`. Raises `TypeError` unless the promoted dtype is a float dtype.

    Promotes the bounds with each other, then `x` with each bound. A Python number is not weak. If `propagate_nan` is
    not a `PropagateNan`, raises a `ValueError` whose message contains "propagate_nan".
    """
    # [task 4.7] A bf16[8] clamped to 0 and 1 is an fp32[8], built by `tt.clampf`. Its attribute `propagateNan` is
    # "none" or "all", the `value` of `propagate_nan`.
    x, low, high = without_bfloat16(x), without_bfloat16(min), without_bfloat16(max)
    low, high = unify(low, high)
    x, low = unify(x, low)
    x, high = unify(x, high)
    if not x.dtype.is_floating():
        raise TypeError(f"Unexpected dtype {x.dtype}. Only floating point clamp is supported")
    if not isinstance(propagate_nan, PropagateNan):
        raise ValueError(f"propagate_nan is one of PropagateNan's, not {propagate_nan!r}")
    return build("tt.clampf", x, low, high, propagateNan=propagate_nan.value)
    # [end]


@builtin
def fma(x: Any, y: Any, z: Any) -> tensor:
    """`x * y + z`, rounded once. Raises `TypeError` unless the promoted dtype is a float dtype.

    Promotes two operands at a time, in the order that the chapter's example shows. Unlike in `x + y`, a Python number
    is not weak.
    """
    # [task 4.7] `math.fma` of three bf16[8] is a bf16[8]; `math.fma` of two fp16 and the number 1.0 is an fp32.
    x, y = unify(to_tensor(x), to_tensor(y))
    z, x = unify(to_tensor(z), x)
    z, y = unify(z, y)
    if not x.dtype.is_floating():
        raise TypeError(f"Unexpected dtype {x.dtype}: fma multiplies floats")
    return build("math.fma", x, y, z)
    # [end]


def as_condition(value: Any) -> tensor:
    """A condition as an int1. As in Triton, any other tensor is compared with zero, with a warning. (Given.)"""
    condition = to_tensor(value)
    if condition.dtype != int1:
        warnings.warn(
            "tl.where with a non-boolean condition is deprecated and will error out in a future triton release. "
            f"Got {condition.dtype}",
            stacklevel=2,
        )
    return convert(condition, int1)


@builtin
def where(condition: Any, x: Any, y: Any) -> tensor:
    """`x` where `condition` is true, and `y` elsewhere. Both `x` and `y` are computed for all elements.

    `x` and `y` are promoted as by an operator: numbers are weak. Pointers are allowed. All three arguments are
    broadcast to their common shape. Raises `TypeError` if the dtypes of `x` and `y` still differ after promotion, as
    those of a pointer and an integer do.
    """
    # [task 4.7] An int1[8], an fp16[8] and the number 0 give an fp16[8], built by `arith.select`. Given:
    # `as_condition`.
    condition = as_condition(condition)
    x, y = unify(x, y, pointers=True)
    if x.dtype != y.dtype:
        raise TypeError(f"where chooses between values of one dtype, not between {x.dtype} and {y.dtype}")
    condition, x, y = broadcast_together(condition, x, y)
    return build("arith.select", condition, x, y, dtype=x.dtype)
    # [end]
