"""Creating tensors: program ids, ranges, constants.

Source: Triton's `python/triton/language/semantic.py` (`program_id`, `arange`, `full`) and `standard.py` (`cdiv`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import dtype, int32, int64, uint64
from mini_triton.language.tensor import Number, build, convert, is_number, make_scalar, member, tensor

__all__ = ["program_id", "num_programs", "arange", "full", "zeros", "zeros_like", "cdiv"]


@builtin
def program_id(axis: int) -> tensor:
    """The id of this program along axis 0, 1 or 2 of the launch grid, an int32 scalar."""
    # Task 4.6: Build `tt.get_program_id` with the axis "x", "y" or "z". Raise ValueError for any other axis, and name
    # it. Given: `_axis`.
    raise NotImplementedError("Task 4.6: Program ids, ranges, constants")


@builtin
def num_programs(axis: int) -> tensor:
    """The number of programs along axis 0, 1 or 2 of the launch grid, an int32 scalar."""
    return build("tt.get_num_programs", axis=_axis(axis), dtype=int32)


def _axis(axis: int) -> str:
    """The name of an axis of the grid. (Given.)"""
    if axis not in (0, 1, 2):
        raise ValueError(f"program_id axis must be 0, 1, or 2 but got {axis!r}")
    return "xyz"[axis]


@builtin
def arange(start: int, end: int) -> tensor:
    """The integers from `start` up to, but not including, `end`, as int32. Their number is a power of two.

    Raises `ValueError` for bounds that are not compile-time values, not in order, or too far apart.
    """
    # Task 4.6: `arange(8, 16)` is an int32[8], built by `tt.make_range`. Raise the first message that applies:
    # "arange's arguments must be of type tl.constexpr" unless both are ints; "arange must fit in int32" for bounds
    # below 0 or from 2**31 on; "arange's end argument must be greater than the start argument"; "arange's range must be
    # a power of 2".
    raise NotImplementedError("Task 4.6: Program ids, ranges, constants")


@builtin
def full(shape: Sequence[int], value: Any, dtype: dtype) -> tensor:
    """A tensor of `shape` with `value` in every element; `()` means a scalar. `value` may be a run-time scalar.

    Integer dtypes wrap a number around. Raises `TypeError` for a number that the dtype does not accept.
    """
    # Task 4.6: `full((8,), 255, int8)` is an int8[8] of -1; `full((), n, fp32)` is the scalar `n` as fp32.
    # Given: `is_number`, `wrap`, `make_scalar`, `convert`, `splat`.
    raise NotImplementedError("Task 4.6: Program ids, ranges, constants")


def wrap(value: Number, dtype: dtype) -> Number:
    """A number as a dtype stores it: integer dtypes keep its lowest bits, int1 its truth value, floats everything.

    Raises `TypeError` for a nonzero float with an integer dtype, and for a number out of the range of 64-bit integers
    of that signedness: unsigned dtypes do not accept negative numbers. (Given.)
    """
    if dtype is None:
        raise ValueError("dtype must be specified when value is not a tensor")
    if dtype.is_floating():
        return value
    if dtype.is_bool() or value == 0:
        return value != 0
    low, high = (int64 if dtype.signed else uint64).int_range()
    if isinstance(value, float) or not low <= value <= high:
        raise TypeError(f"{value} cannot become {dtype}")
    return value % 2**dtype.width


def splat(scalar: tensor, shape: Sequence[int]) -> tensor:
    """A tensor with a scalar in every element. Raises `ValueError` if `scalar` is not a scalar, and `TypeError` for
    sizes unknown at compile time. (Given.)"""
    for i, size in enumerate(shape):
        if isinstance(size, tensor):
            raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got {size!r}")
    if scalar.shape:
        raise ValueError(f"only accepts size-1 tensor: {scalar!r} cannot fill another one")
    return tensor(current().broadcast_to(scalar.handle, shape), scalar.dtype)


@builtin
def zeros(shape: Sequence[int], dtype: dtype) -> tensor:
    """A tensor of zeros."""
    return full(shape, 0, dtype)


@builtin
def zeros_like(x: tensor) -> tensor:
    """Zeros with the shape and dtype of `x`."""
    return full(x.shape, 0, x.dtype)


@member
@builtin
def cdiv(x: Any, div: Any) -> tensor:
    """`x / div` rounded up, for nonnegative integers: the number of blocks of size `div` that cover `x`."""
    # Task 4.6: `cdiv(10, 4)` is the Python int 3; for a run-time scalar `n`, the result is an int32 scalar. As in real
    # Triton, compute `div - 1` first, so that the kernel need not subtract if `div` is a number.
    raise NotImplementedError("Task 4.6: Program ids, ranges, constants")
