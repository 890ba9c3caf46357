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
    x = to_tensor(input)
    if bitcast:
        return reinterpret(x, dtype)
    if x.dtype == dtype:
        return x
    if fp_downcast_rounding is None:
        return convert(x, dtype)
    if fp_downcast_rounding != "rtne" and fp_downcast_rounding != "rtz":
        raise ValueError("Invalid rounding mode: " + str(fp_downcast_rounding))
    wrong = f"fp_downcast_rounding should be set only for truncating fp conversions, this is {x.dtype} to {dtype}"
    if not _is_float(x.dtype):
        raise ValueError(wrong)
    if not _is_float(dtype):
        raise ValueError(wrong)
    if dtype.ir_type.width >= x.dtype.width:
        raise ValueError(wrong)
    if fp_downcast_rounding == "rtne":
        return convert(x, dtype)
    result = with_element(x.handle.type, dtype.ir_type)
    return build("tt.fp_to_fp", x, dtype=dtype, result=result, rounding="rtz")


def _is_float(dtype: dtype | pointer_type) -> bool:
    """Whether it is a float, and not a pointer. (Given.)"""
    return not isinstance(dtype, pointer_type) and dtype.is_floating()


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """The same bits read as another dtype of the same size. Pointers are converted: their bits have no other meaning.

    Raises `ValueError` for another size, naming both.
    """
    if isinstance(dtype, pointer_type):
        return convert(x, dtype)
    if isinstance(x.dtype, pointer_type):
        return convert(x, dtype)
    if x.dtype == dtype:
        return x
    before = x.dtype.width
    after = dtype.width
    if before != after:
        raise ValueError(f"Cannot bitcast data-type of size {before} to data-type of size {after}")
    result = with_element(x.handle.type, dtype.ir_type)
    return build("tt.bitcast", x, result=result, dtype=dtype)


@member
@builtin
def to(
    x: tensor, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """The same as a method: `x.to(tl.float16)`."""
    return cast(x, dtype, fp_downcast_rounding, bitcast)
