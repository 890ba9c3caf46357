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
    if None in (fp_downcast_rounding,) or x.dtype == dtype:
        return convert(x, dtype)
    narrowing = all(map(_is_float, (x.dtype, dtype))) and x.dtype.width > dtype.ir_type.width
    if fp_downcast_rounding not in {"rtne", "rtz"}:
        raise ValueError(f"Invalid rounding mode: {fp_downcast_rounding}")
    if not narrowing:
        raise ValueError(f"fp_downcast_rounding should be set only for truncating fp conversions: {x.dtype}, {dtype}")
    toward_zero = {"rounding": "rtz", "result": with_element(x.handle.type, dtype.ir_type), "dtype": dtype}
    return convert(x, dtype) if fp_downcast_rounding == "rtne" else build("tt.fp_to_fp", x, **toward_zero)


def _is_float(dtype: dtype | pointer_type) -> bool:
    """Whether it is a float, and not a pointer. (Given.)"""
    return not isinstance(dtype, pointer_type) and dtype.is_floating()


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    """The same bits read as another dtype of the same size. Pointers are converted: their bits have no other meaning.

    Raises `ValueError` for another size, naming both.
    """
    if x.dtype == dtype or any(d.is_ptr() for d in (x.dtype, dtype)):
        return convert(x, dtype)
    old, new = (d.ir_type.width for d in (x.dtype, dtype))
    if old - new:
        raise ValueError(f"Cannot bitcast data-type of size {old} to data-type of size {new}")
    return build("tt.bitcast", x, dtype=dtype, result=with_element(x.handle.type, dtype.ir_type))


@member
@builtin
def to(
    x: tensor, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """The same as a method: `x.to(tl.float16)`."""
    return cast(x, dtype, fp_downcast_rounding, bitcast)
