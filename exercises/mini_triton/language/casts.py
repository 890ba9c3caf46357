"""Explicit casts in a kernel: `x.to(tl.float16)`.

`convert` in `tensor.py` performs the casts. This module adds two options: rounding toward zero, and keeping the bits
instead of the value.

Source: `cast` and `bitcast` in Triton's `python/triton/language/semantic.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.ir.types import with_element
from mini_triton.language.context import builtin
from mini_triton.language.dtypes import check_dtype, dtype, pointer_type
from mini_triton.language.tensor import build, convert, member, tensor, to_tensor

__all__ = ["cast"]


@member
@builtin
def cast(
    input: Any, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """`input` converted to `dtype`. With `bitcast`, `reinterpret` reads its bits as `dtype`, without any rounding.

    `fp_downcast_rounding` selects the rounding to a narrower float: "rtne" rounds to nearest, "rtz" toward zero. Unless
    the dtypes are equal or `bitcast` is true, raises `ValueError` for an unknown rounding, and for any rounding if the
    cast does not narrow a float. Also raises the errors of `reinterpret` and `convert`.
    """
    check_dtype(dtype)
    dtype = dtype.scalar  # a block pointer's `element_ty` is a block type
    # Task 4.5: With "rtz", a cast from any float dtype to a narrower one builds a single `tt.fp_to_fp` with this
    # `rounding`; "rtne" is the rounding of `convert`. If the dtypes are equal, return `input`, whatever the rounding.
    # For any other rounding, such as "up", raise ValueError "Invalid rounding mode: up". If a rounding is given for a
    # cast that does not narrow a float, raise ValueError "fp_downcast_rounding should be set only for truncating fp
    # conversions"; the message also contains both dtypes. Given: `_is_float`.
    raise NotImplementedError("Task 4.5: Pointers, loads, stores and casts")


def _is_float(dtype: dtype | pointer_type) -> bool:
    """Whether a dtype is a float, not a pointer. (Given.)"""
    return not isinstance(dtype, pointer_type) and dtype.is_floating()


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """The bits of `x`, read as `dtype`. If `x` holds pointers or `dtype` is a pointer type, `x` is converted instead.

    Otherwise, if the two dtypes differ in size, raises a `ValueError` that names both sizes.
    """
    # Task 4.5: Reading an fp32[8] as uint32 builds one `tt.bitcast`, and so does reading an int8 as uint8, although
    # both are i8 in the IR. Only for equal dtypes, build no operation. The message gives sizes in bits: "Cannot bitcast
    # data-type of size 32 to data-type of size 16".
    raise NotImplementedError("Task 4.5: Pointers, loads, stores and casts")


@member
@builtin
def to(
    x: tensor, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """`cast` as a method: `x.to(tl.float16)`."""
    return cast(x, dtype, fp_downcast_rounding, bitcast)
