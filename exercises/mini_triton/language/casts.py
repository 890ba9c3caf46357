"""Casts that a kernel asks for: `x.to(tl.float16)`.

`convert` in `tensor.py` knows which casts there are. Here are the choices that only a kernel can make: to round toward
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
    """`input` converted to another dtype; with `bitcast` its bits, read as that dtype.

    `fp_downcast_rounding` says how a float becomes a narrower one: "rtne", to the nearest, or "rtz", toward zero.
    Raises `ValueError` for a rounding where nothing is rounded, and what `reinterpret` and `convert` raise.
    """
    dtype = dtype.scalar  # of the type of a block, as a block pointer has it
    # Task 4.5: fp32 to fp16 with "rtz" is one `tt.fp_to_fp` of that `rounding`, whatever the floats; "rtne" is how
    # `convert` rounds. An equal dtype changes nothing, whatever the rounding. ValueError "Invalid rounding mode: up"
    # for others, and "fp_downcast_rounding should be set only for truncating fp conversions" with both dtypes where the
    # float does not become narrower. Given: `reinterpret`, `_is_float`, `with_element` for the result's IR type.
    raise NotImplementedError("Task 4.5: Pointers, loads, stores and casts")


def _is_float(dtype: dtype | pointer_type) -> bool:
    """Whether it is a float, and not a pointer. (Given.)"""
    return not isinstance(dtype, pointer_type) and dtype.is_floating()


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """The same bits read as another dtype of the same size. Pointers are converted: their bits have no other meaning.

    Raises `ValueError` for another size, naming both.
    """
    # Task 4.5: fp32[8] to uint32 is one `tt.bitcast`; int32 to int32 nothing. Sizes are in bits: "Cannot bitcast
    # data-type of size 32 to data-type of size 16".
    raise NotImplementedError("Task 4.5: Pointers, loads, stores and casts")


@member
@builtin
def to(
    x: tensor, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """The same as a method: `x.to(tl.float16)`."""
    return cast(x, dtype, fp_downcast_rounding, bitcast)
