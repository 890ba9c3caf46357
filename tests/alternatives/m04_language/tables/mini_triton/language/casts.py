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


ROUNDINGS = {"rtne": None, "rtz": "tt.fp_to_fp"}
"""The operation for each rounding, None for the usual one."""


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
    if fp_downcast_rounding is not None:
        if fp_downcast_rounding not in ROUNDINGS:
            raise ValueError(f"Invalid rounding mode: {fp_downcast_rounding}, not one of {[*ROUNDINGS]}")
        narrower = _is_float(dtype) and _is_float(x.dtype) and x.dtype.width > dtype.ir_type.width
        if not narrower:
            raise ValueError(f"fp_downcast_rounding is for truncating fp conversions, not {x.dtype} to {dtype}")
    operation = ROUNDINGS.get(fp_downcast_rounding or "rtne")
    if operation is None:
        return convert(x, dtype)
    result = with_element(x.handle.type, dtype.ir_type)
    return build(operation, x, rounding=fp_downcast_rounding, result=result, dtype=dtype)


def _is_float(dtype: dtype | pointer_type) -> bool:
    """Whether it is a float, and not a pointer. (Given.)"""
    return not isinstance(dtype, pointer_type) and dtype.is_floating()


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """The same bits read as another dtype of the same size. Pointers are converted: their bits have no other meaning.

    Raises `ValueError` for another size, naming both.
    """
    kinds = isinstance(x.dtype, pointer_type), isinstance(dtype, pointer_type)
    if any(kinds) or x.dtype == dtype:
        return convert(x, dtype)
    sizes = [d.ir_type.width for d in (x.dtype, dtype)]
    if len(set(sizes)) != 1:
        raise ValueError("Cannot bitcast data-type of size {} to data-type of size {}".format(*sizes))
    return build("tt.bitcast", x, result=with_element(x.handle.type, dtype.ir_type), dtype=dtype)


@member
@builtin
def to(
    x: tensor, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """The same as a method: `x.to(tl.float16)`."""
    return cast(x, dtype, fp_downcast_rounding, bitcast)
