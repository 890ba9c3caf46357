"""Where tensors come from: program ids, ranges, constants.

Source: Triton's `python/triton/language/semantic.py` (`program_id`, `arange`, `full`) and `standard.py` (`cdiv`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import dtype, int32, int64, uint64
from mini_triton.language.tensor import Number, build, constant, convert, is_number, member, tensor

__all__ = ["program_id", "num_programs", "arange", "full", "zeros", "zeros_like", "cdiv"]


REFUSED_RANGES = (
    (lambda start, end: not {type(start), type(end)} <= {int, bool}, "arange's arguments must be of type tl.constexpr"),
    (lambda start, end: min(start, end) < 0 or max(start, end) >= 2**31, "arange must fit in int32"),
    (lambda start, end: start >= end, "arange's end argument must be greater than the start argument"),
    (lambda start, end: bin(end - start).count("1") != 1, "arange's range must be a power of 2"),
)


@builtin
def program_id(axis: int) -> tensor:
    """Which program this is, along axis 0, 1 or 2 of the launch grid. An int32 scalar."""
    axes = {0: "x", 1: "y", 2: "z"}
    if axis not in axes:
        raise ValueError(f"{axis!r} is none of the axes {list(axes)}")
    return build("tt.get_program_id", axis=axes[axis], dtype=int32)


@builtin
def num_programs(axis: int) -> tensor:
    """How many programs the launch grid has along axis 0, 1 or 2. An int32 scalar."""
    return tensor(current().create("tt.get_num_programs", axis=_axis(axis)), int32)


def _axis(axis: int) -> str:
    """The name of an axis of the grid. (Given.)"""
    if axis not in (0, 1, 2):
        raise ValueError(f"the axis of a grid is 0, 1 or 2, not {axis!r}")
    return "xyz"[axis]


@builtin
def arange(start: int, end: int) -> tensor:
    """The integers from `start` up to, but without, `end`, as int32. How many they are is a power of two.

    Raises `ValueError` for bounds that are not known to the compiler, not in order, or too far apart.
    """
    for refused, words in REFUSED_RANGES:
        if refused(start, end):
            raise ValueError(words)
    return build("tt.make_range", start=start, end=end, dtype=int32)


@builtin
def full(shape: Sequence[int], value: Any, dtype: dtype) -> tensor:
    """`value` in every element of a tensor of `shape`; `()` is a scalar. `value` may be a scalar of the kernel.

    Integer dtypes wrap a number around, and raise `TypeError` for one that they do not take.
    """
    scalar = {True: lambda: constant(wrapped(value, dtype), dtype), False: lambda: convert(value, dtype)}
    return splat(scalar[is_number(value)](), shape)


def wrapped(value: Number, dtype: dtype) -> Number:
    """What a dtype keeps of a number: an integer its lowest bits, int1 whether it is zero. Floats keep it. (Given.)

    Raises `TypeError` if an integer dtype shall take a float that is not zero, or a number that is out of the range of
    64-bit integers with its signedness: unsigned ones take no negative number.
    """
    if dtype.is_floating():
        return value
    if dtype.is_bool() or value == 0:
        return value != 0
    low, high = (int64 if dtype.signed else uint64).int_range()
    if isinstance(value, float) or not low <= value <= high:
        raise TypeError(f"{value} cannot become {dtype}")
    return value % 2**dtype.width


def splat(scalar: tensor, shape: Sequence[int]) -> tensor:
    """A scalar in every element of a tensor. Raises `ValueError` if it is none, `TypeError` for sizes that are unknown
    at compile time. (Given.)"""
    for i, size in enumerate(shape):
        if isinstance(size, tensor):
            raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got {size!r}")
    if scalar.shape:
        raise ValueError(f"cannot fill a tensor with {scalar!r}: only with a scalar")
    return tensor(current().broadcast_to(scalar.handle, shape), scalar.dtype)


@builtin
def zeros(shape: Sequence[int], dtype: dtype) -> tensor:
    """A tensor of zeros."""
    return splat(constant(0, dtype) if not dtype.is_bool() else constant(False, dtype), shape)


@builtin
def zeros_like(x: tensor) -> tensor:
    """Zeros in the shape and dtype of `x`."""
    return full(x.shape, 0, x.dtype)


@member
@builtin
def cdiv(x: Any, div: Any) -> tensor:
    """`x / div` rounded up, for integers that are not negative: how many blocks of `div` cover `x`."""
    return (div - 1 + x) // div
