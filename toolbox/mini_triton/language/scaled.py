"""Matrix products in the microscaling formats. (Given.)

Source: `dot_scaled` in Triton's `python/triton/language/semantic.py`.
"""

from __future__ import annotations

from mini_triton.language.casts import cast
from mini_triton.language.context import builtin
from mini_triton.language.creation import zeros
from mini_triton.language.dtypes import DTYPES, dtype, float32, uint8, uint16
from mini_triton.language.tensor import build, tensor

__all__ = ["dot_scaled"]

E4M3 = DTYPES["fp8e4nv"]
ELEMENTS = {"e2m1": uint8, "e4m3": E4M3, "e5m2": DTYPES["fp8e5"], "bf16": DTYPES["bf16"], "fp16": DTYPES["fp16"]}
"""The dtype that holds the numbers of each format. All formats except "e2m1" also accept unsigned integers."""


def _decode(x: tensor, format: str, side: str, k_pack: bool) -> tensor:
    """The operand with the dtype of its format. Raises `ValueError` or `TypeError` if `x` does not match `format`."""
    if format not in ELEMENTS:
        raise ValueError(f"Invalid float format: {format}. The formats are {', '.join(ELEMENTS)}")
    if not k_pack and format != "e2m1":
        raise ValueError(f"only mxfp4 inputs can be packed along a dimension different than K, not {side} of {format}")
    if format == "e2m1" and x.dtype != uint8:
        raise TypeError(f"e2m1 format must be packed as uint8. Got {x.dtype}")
    if x.dtype == ELEMENTS[format]:
        return x
    if x.dtype != (uint8 if ELEMENTS[format].width == 8 else uint16):
        raise TypeError(f"Unexpected dtype for {format}. Got {x.dtype}")
    return cast(x, ELEMENTS[format], bitcast=True)


def _check_scale(scale: tensor | None, side: str, rows: int, k: int) -> None:
    """Check that there is a scale for every 32 numbers of a row, or for every 16 numbers if scales are E4M3."""
    if scale is None:
        return
    if scale.dtype not in (uint8, E4M3):
        raise TypeError(f"{side}_scale must be a tensor of uint8 (E8M0) or fp8e4nv. Got {scale.dtype}")
    wanted = (rows, k // (16 if scale.dtype == E4M3 else 32))
    if scale.shape[-2:] != wanted:
        shape = ", ".join(map(str, wanted))
        raise ValueError(f"{side}_scale must be a tensor of shape [..., {shape}]. Got {list(scale.shape)}")


@builtin
def dot_scaled(
    lhs: tensor,
    lhs_scale: tensor | None,
    lhs_format: str,
    rhs: tensor,
    rhs_scale: tensor | None,
    rhs_format: str,
    acc: tensor | None = None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: dtype = float32,
) -> tensor:
    """`acc + lhs @ rhs`, where each group of numbers along K is first multiplied by the group's scale.

    The scales have the shape (M, K / 32) for `lhs` and (N, K / 32) for `rhs`. They are powers of two as uint8, where
    255 is NaN. With fp8e4nv scales, a group has 16 numbers instead of 32. Two consecutive numbers of "e2m1" share a
    uint8, the first in the low bits. They are consecutive along K, unless `lhs_k_pack` or `rhs_k_pack` is false.
    """
    if out_dtype != float32:
        raise ValueError(f"Only float32 is supported for out_dtype at the moment, not {out_dtype}")
    if len(lhs.shape) != len(rhs.shape) or len(lhs.shape) not in (2, 3):
        shapes = f"(lhs: {list(lhs.shape)} vs rhs: {list(rhs.shape)})"
        raise ValueError(f"Both inputs must be either 2D or 3D; {shapes}")
    lhs = _decode(lhs, lhs_format, "lhs", lhs_k_pack)
    rhs = _decode(rhs, rhs_format, "rhs", rhs_k_pack)
    (*batch, m, k), (*_, other_k, n) = lhs.shape, rhs.shape
    packed, other_packed = 1 + (lhs_format == "e2m1"), 1 + (rhs_format == "e2m1")
    m, k = (m, k * packed) if lhs_k_pack else (m * packed, k)
    n, other_k = (n, other_k * other_packed) if rhs_k_pack else (n * other_packed, other_k)
    if k != other_k:
        raise ValueError(
            f"Reduction dimension should pack the same number of elements; "
            f"(lhs: {list(lhs.shape)} vs rhs: {list(rhs.shape)})"
        )
    shape = (*batch, m, n)
    if acc is None:
        acc = zeros(shape, out_dtype)
    if acc.shape != shape:
        raise ValueError(f"expected accumulator shape {list(shape)}, got {list(acc.shape)}")
    if acc.dtype != out_dtype:
        raise TypeError(f"expected accumulator dtype {out_dtype}, got {acc.dtype}")
    _check_scale(lhs_scale, "lhs", m, k)
    _check_scale(rhs_scale, "rhs", n, k)
    return build(
        "tt.dot_scaled",
        *(lhs, rhs, acc, *(scale for scale in (lhs_scale, rhs_scale) if scale is not None)),
        a_elem_type=lhs_format,
        b_elem_type=rhs_format,
        fastMath=fast_math,
        lhs_k_pack=lhs_k_pack,
        rhs_k_pack=rhs_k_pack,
        operandSegmentSizes=(1, 1, 1, int(lhs_scale is not None), int(rhs_scale is not None)),
        dtype=out_dtype,
    )
