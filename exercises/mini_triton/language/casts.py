"""Explicit casts in a kernel: `x.to(tl.float16)`.

`convert` in `tensor.py` performs the casts. This module adds the choices that only a kernel can make: to round toward
zero, and to keep the bits instead of the value.

Source: `cast` and `bitcast` in Triton's `python/triton/language/semantic.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.ir.types import with_element
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import dtype, pointer_type
from mini_triton.language.tensor import build, convert, member, tensor, to_tensor

__all__ = ["cast"]


@member
@builtin
def cast(
    input: Any, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """`input` converted to a different dtype; with `bitcast`, its bits read as that dtype.

    `fp_downcast_rounding` selects the rounding to a narrower float: "rtne", to nearest, or "rtz", toward zero. Raises
    `ValueError` for a rounding if the cast does not narrow a float, and all errors of `reinterpret` and `convert`.
    """
    dtype = dtype.scalar  # block pointers have the type of a block
    # Task 4.5: With "rtz", a cast such as fp32 to fp16 is one `tt.fp_to_fp` with this `rounding`, whatever the two
    # float dtypes are; "rtne" is the rounding of `convert`. If the dtypes are equal, return `input`, whatever the
    # rounding. Raise ValueError "Invalid rounding mode: up" for any other rounding, and "fp_downcast_rounding should be
    # set only for truncating fp conversions", with both dtypes, if the float does not become narrower. Given:
    # `reinterpret`, `_is_float`, `with_element` for the result's IR type.
    raise NotImplementedError("Task 4.5: Pointers, loads, stores and casts")


def _is_float(dtype: dtype | pointer_type) -> bool:
    """Whether a dtype is a float, not a pointer. (Given.)"""
    return not isinstance(dtype, pointer_type) and dtype.is_floating()


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """The same bits, read as a different dtype of the same size. Pointers are converted instead.

    Raises `ValueError` if the sizes differ, and names both.
    """
    # Task 4.5: A cast from fp32[8] to uint32 builds one `tt.bitcast`; from int32 to int32, it builds nothing. The
    # message gives sizes in bits: "Cannot bitcast data-type of size 32 to data-type of size 16".
    raise NotImplementedError("Task 4.5: Pointers, loads, stores and casts")


@member
@builtin
def to(
    x: tensor, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """`cast` as a method: `x.to(tl.float16)`."""
    return cast(x, dtype, fp_downcast_rounding, bitcast)
