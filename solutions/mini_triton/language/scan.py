"""Scans: running reductions. Element i of the result combines elements 0 to i of the operand.

Source: Triton's `python/triton/language/core.py` (`associative_scan`) and `standard.py` (`cumsum`, `cumprod`).
"""

from __future__ import annotations

from typing import Any

from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import dtype
from mini_triton.language.math import without_bfloat16
from mini_triton.language.reduction import Combine, as_sources, combine_region, of_numbers, sum_dtype
from mini_triton.language.shape import wrap_axis
from mini_triton.language.tensor import add, convert, member, mul, tensor

__all__ = ["associative_scan", "cumsum", "cumprod"]


@member
@builtin
def associative_scan(input: Any, axis: int, combine_fn: Combine, reverse: bool = False) -> Any:
    """Running combinations of the elements along `axis`; with `reverse`, they start at the last element.

    `input` and `combine_fn` are as in `reduce`. A negative `axis` counts from the end; None raises `ValueError`. The
    result is a tensor if `input` is a tensor, and a tuple if `input` is a tuple.
    """
    sources = as_sources(input, "scan")
    # [task 4.8] The results have the shape of the operands. The region of `tt.scan` ends in `tt.scan.return`; `reverse`
    # is a boolean attribute of `tt.scan`.
    axis = wrap_axis(axis, len(sources[0].shape))
    region = combine_region("tt.scan.return", sources, combine_fn)
    handles = (source.handle for source in sources)
    scanned = current().operation("tt.scan", *handles, axis=axis, reverse=bool(reverse), regions=[region])
    results = tuple(tensor(result, source.dtype) for result, source in zip(scanned.results, sources, strict=True))
    return results[0] if isinstance(input, tensor) else results
    # [end]


@member
@builtin
def cumsum(input: tensor, axis: int = 0, reverse: bool = False, dtype: dtype | None = None) -> tensor:
    """The running sum along `axis`, in `dtype`, or by default in the dtype that `sum_dtype` returns.

    bf16 is first converted to fp32.
    """
    input = without_bfloat16(of_numbers(input, "cumsum"))
    return associative_scan(convert(input, dtype or sum_dtype(input.dtype)), axis, add, reverse)


@member
@builtin
def cumprod(input: tensor, axis: int = 0, reverse: bool = False) -> tensor:
    """The running product along `axis`. bf16 is first converted to fp32. Small integers are not widened."""
    return associative_scan(without_bfloat16(of_numbers(input, "cumprod")), axis, mul, reverse)
