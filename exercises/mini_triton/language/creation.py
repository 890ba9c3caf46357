"""Creating tensors: program ids, ranges, constants.

Source: Triton's `python/triton/language/semantic.py` (`program_id`, `arange`, `full`) and `standard.py` (`cdiv`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import check_dtype, dtype, int32, int64, uint64
from mini_triton.language.tensor import Number, build, convert, is_number, make_scalar, member, tensor

__all__ = ["program_id", "num_programs", "arange", "full", "zeros", "zeros_like", "cdiv"]


@builtin
def program_id(axis: int) -> tensor:
    """The id of this program along axis 0, 1 or 2 of the launch grid, as an int32 scalar."""
    return build("tt.get_program_id", axis=_axis(axis), dtype=int32)


@builtin
def num_programs(axis: int) -> tensor:
    """The number of programs along axis 0, 1 or 2 of the launch grid, as an int32 scalar."""
    return build("tt.get_num_programs", axis=_axis(axis), dtype=int32)


def _axis(axis: int) -> str:
    """The name of an axis of the grid. Raises `ValueError` for an axis other than 0, 1 or 2."""
    if axis not in (0, 1, 2):
        raise ValueError(f"program_id axis must be 0, 1, or 2 but got {axis!r}")
    return "xyz"[axis]


@builtin
def arange(start: int, end: int) -> tensor:
    """The integers from `start` up to, but not including, `end`, as int32.

    Raises `ValueError` unless the bounds are compile-time integers from 0 to 2**31 - 1, `end` is greater than `start`,
    and `end - start` is a power of two.
    """
    # Task 4.6: `arange(8, 16)` is an int32[8], built by `tt.make_range`. Raise ValueError with a message that begins
    # with the first of these that applies: "arange's arguments must be of type tl.constexpr" unless both bounds are
    # ints; "arange must fit in int32" for a bound below 0 or above 2**31 - 1; "arange's end argument must be greater
    # than the start argument"; "arange's range must be a power of 2".
    raise NotImplementedError("Task 4.6: Ranges and constants")


@builtin
def full(shape: Sequence[int], value: Any, dtype: dtype) -> tensor:
    """A tensor of `shape` with `value` in every element. The shape `()` means a scalar.

    `value` is a number or a run-time scalar. A number that does not fit an integer dtype wraps around, unless `wrap`
    rejects it. Raises the errors of `wrap`, `convert` and `splat`.
    """
    # Task 4.6: `full((8,), 255, int8)` is an int8[8] filled with -1; `full((), n, fp32)` is the scalar `n` as fp32.
    raise NotImplementedError("Task 4.6: Ranges and constants")


def wrap(value: Number, dtype: dtype) -> Number:
    """Fit a number to a dtype. (Given.)

    An integer dtype keeps the lowest bits of the number, int1 keeps its truth value, and a float dtype leaves the
    number unchanged. Raises `TypeError` if the dtype is an integer other than int1, and the number is a nonzero float
    or out of the range of int64 (of uint64 for unsigned dtypes). Therefore, unsigned dtypes reject negative numbers.
    """
    if dtype is None:
        raise ValueError("dtype must be specified when value is not a tensor")
    check_dtype(dtype)
    if dtype.is_floating():
        return value
    if dtype.is_bool() or value == 0:
        return value != 0
    low, high = (int64 if dtype.signed else uint64).int_range()
    if isinstance(value, float) or not low <= value <= high:
        raise TypeError(f"{value} cannot become {dtype}")
    return value % 2**dtype.width


def splat(scalar: tensor, shape: Sequence[int]) -> tensor:
    """A tensor of `shape` with `scalar` in every element. (Given.)

    Raises `ValueError` if `scalar` is not a scalar, and `TypeError` for a size that is unknown at compile time.
    """
    if isinstance(shape, int):
        raise TypeError(f"'int' object is not iterable: a shape is a tuple or a list, write [{shape}]")
    for i, size in enumerate(shape):
        if isinstance(size, tensor):
            raise TypeError(f"Shape element {i} must have type `constexpr[int]`, got {size!r}")
    if scalar.shape:
        raise ValueError(f"only accepts size-1 tensor: {scalar!r} is not a scalar")
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
    """`x / div` rounded up, for nonnegative integers: the number of tiles of size `div` that cover `x` elements."""
    # Task 4.6: `cdiv(10, 4)` is the Python int 3. For int32 scalars `n` and `m`, `cdiv(n, 4)` builds only an addition
    # and a division; `cdiv(n, m)` also builds a subtraction.
    raise NotImplementedError("Task 4.6: Ranges and constants")
