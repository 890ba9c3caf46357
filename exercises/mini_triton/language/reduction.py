"""Reductions: combine many elements along an axis into one.

The operation `tt.reduce` expresses every reduction, such as a sum or a maximum. Its region is a small function that
combines two groups of values into one group. To build the region, `combine_region` calls the kernel's `combine_fn` with
the region's arguments, as tensors.

Source: Triton's `python/triton/language/standard.py` (`sum`, `max`, `argmax`) and `core.py` (`reduce`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from mini_triton.ir.core import Block, Region
from mini_triton.ir.types import I32, TensorType
from mini_triton.language.context import builtin, current, debugging
from mini_triton.language.dtypes import dtype, float32, int1, int32, pointer_type, uint32
from mini_triton.language.math import maximum, minimum, where, without_bfloat16
from mini_triton.language.shape import reshaped, wrap_axis
from mini_triton.language.tensor import add, build, compare, convert, member, tensor, to_tensor

__all__ = ["reduce", "sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or", "histogram"]

Combine = Callable[..., Any]


# --- with any combine function


@debugging(False)  # no assertions: the order in which elements are combined is undefined
def combine_region(terminator: str, sources: Sequence[tensor], combine: Combine) -> Region:
    """The region of a reduction or of a scan, with `combine` built into its block.

    For N sources, `combine` takes N left values and then N right values, all scalars. It returns the N combined values
    as a tuple of tensors, or as a single tensor if N is 1. Raises `TypeError` if the IR types of the combined values
    are not the element types of the sources.
    """
    # Task 4.8: For one fp32 source and `add`, build a block `^bb0(%l: f32, %r: f32)` that contains an `arith.addf` and
    # the operation `terminator` on its result. Given: `check_combined`, which takes a tuple.
    raise NotImplementedError("Task 4.8: Reductions and scans")


def check_combined(results: Any, dtypes: list[dtype | pointer_type]) -> None:
    """Raise `TypeError` unless `results` are scalars of the given dtypes. Signedness does not matter. (Given.)"""
    expected = ", ".join(map(str, dtypes))
    if not isinstance(results, tuple | list) or not all(isinstance(result, tensor) for result in results):
        raise TypeError(f"the combine function must return {expected}, not {results!r}")
    if [result.handle.type for result in results] != [dtype.ir_type for dtype in dtypes]:
        returned = ", ".join(str(result.type) for result in results)
        raise TypeError(f"the combine function must return {expected}, not {returned}")


def as_sources(input: Any, what: str) -> tuple[tensor, ...]:
    """The operands of a reduction or scan, one tensor or several, as a tuple of tensors of the same shape. (Given.)"""
    sources = (input,) if isinstance(input, tensor) else tuple(input) if isinstance(input, tuple | list) else ()
    if not sources or not all(isinstance(source, tensor) for source in sources):
        raise TypeError(f"a {what} takes a tensor or a tuple of tensors, not {input!r}")
    if any(source.shape != sources[0].shape for source in sources):
        raise ValueError(f"all {what} inputs must have the same shape")
    if not sources[0].shape:
        raise ValueError(f"a {what} takes tensors with a shape, not scalars")
    return sources


def flatten(x: tensor) -> tensor:
    """All elements of `x` in a single dimension, in any order. (Given.)"""
    return reshaped(x, (x.numel,), can_reorder=True)


def with_axes(x: tensor, axes: Sequence[int]) -> tensor:
    """Insert a dimension of size 1 at each position in `axes`, one after another. (Given.)"""
    handle = x.handle
    for axis in axes:
        builder = current()
        handle = builder.expand_dims(handle, axis) if tensor(handle, x.dtype).shape else builder.splat(handle, (1,))
    return tensor(handle, x.dtype)


@member
@builtin
def reduce(input: Any, axis: int | None, combine_fn: Combine, keep_dims: bool = False) -> Any:
    """Combine all elements along `axis` into one element of the same dtype.

    `input` is a tensor, or a tuple of tensors whose elements at each position form a group. A negative `axis` counts
    from the end; None means all axes. With `keep_dims`, reduced dimensions remain, with size 1. `combine_fn` is the
    `combine` of `combine_region`. The result is a tensor if `input` is a tensor, and a tuple if `input` is a tuple.
    """
    sources = as_sources(input, "reduction")
    # Task 4.8: The shape [8, 4] reduced along axis -1 is [8], or [8, 1] with `keep_dims`. With axis None, the result
    # is a scalar, or [1, 1] with `keep_dims`. The region of `tt.reduce` ends in `tt.reduce.return`.
    raise NotImplementedError("Task 4.8: Reductions and scans")


# --- sums


def of_numbers(input: Any, what: str) -> tensor:
    """`input`, which must be a tensor of numbers; anything else raises `TypeError`. (Given.)"""
    if not isinstance(input, tensor) or input.dtype.is_ptr():
        raise TypeError(f"{what} takes a tensor of numbers, not {input!r}")
    return input


def sum_dtype(dtype: dtype) -> dtype:
    """The dtype in which `sum` and `cumsum` add elements of `dtype` by default."""
    # Task 4.8: The row for `sum` in the chapter's table: int8 gives int32, and fp16 gives fp16.
    raise NotImplementedError("Task 4.8: Reductions and scans")


@member
@builtin
def sum(input: tensor, axis: int | None = None, keep_dims: bool = False, dtype: dtype | None = None) -> tensor:
    """The sum of the elements along `axis`, computed in `dtype`, which defaults to `sum_dtype(input.dtype)`."""
    input = of_numbers(input, "sum")
    # Task 4.8: For an int8[8, 4] summed along axis 0, the result is an int32[4], or an fp32[4] with `dtype=fp32`.
    raise NotImplementedError("Task 4.8: Reductions and scans")


@member
@builtin
def xor_sum(input: tensor, axis: int | None = None, keep_dims: bool = False) -> tensor:
    """The exclusive or of all elements along `axis`. Raises `TypeError` for floats."""
    return reduce(_integers(input, "xor_sum"), axis, operator.xor, keep_dims)


@member
@builtin
def reduce_or(input: tensor, axis: int | None, keep_dims: bool = False) -> tensor:
    """The bitwise or of all elements along `axis`. Raises `TypeError` for floats."""
    return reduce(_integers(input, "reduce_or"), axis, operator.or_, keep_dims)


def _integers(input: Any, what: str) -> tensor:
    if not of_numbers(input, what).dtype.is_int():
        raise TypeError(f"{what} only supported for integers, not for {input.dtype}")
    return input


# --- the largest and the smallest


def positions(shape: Sequence[int], axis: int | None) -> tensor:
    """For each element of a tensor of this shape, its index along `axis`, as int32. (Given.)"""
    axis = wrap_axis(axis, len(shape))
    count = build("tt.make_range", start=0, end=shape[axis], dtype=int32)
    column = with_axes(count, [other for other in range(len(shape)) if other != axis])
    return tensor(current().broadcast_to(column.handle, shape), int32)


def keep_index(better: str, tie_break_left: bool) -> Combine:
    """The combine function of `argmax` (`better` is "gt") or `argmin` ("lt"): it selects a pair (value, index)."""

    def combine(left: tensor, left_index: tensor, right: tensor, right_index: tensor) -> tuple[tensor, tensor]:
        # Task 4.8: For "gt", (3.0, 5) and (2.0, 1) give (3.0, 5). If the values are equal, the right pair wins; with
        # `tie_break_left`, the pair with the smaller index wins, no matter in which order elements are combined.
        raise NotImplementedError("Task 4.8: Reductions and scans")

    return combine


def best(
    better: str, pick: Combine, input: Any, axis: int | None, with_index: bool, tie_break_left: bool, keep_dims: bool
) -> Any:
    """The largest (`better` is "gt") or smallest ("lt") value along `axis`; if `with_index` is true, also its index.

    `pick` is `maximum` or `minimum`. `tie_break_left` is as in `keep_index`.
    """
    input = without_bfloat16(of_numbers(input, "max" if better == "gt" else "min"))
    # Task 4.8: With an index, the result is a pair, such as (fp16[8], int32[8]) for an fp16[8, 4] along axis 1; if
    # `axis` is None, raise ValueError. Without an index, the result for the same fp16[8, 4] is an fp32[8]: see the
    # chapter's table.
    raise NotImplementedError("Task 4.8: Reductions and scans")


@member
@builtin
def max(
    input: tensor,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Any:
    """The largest element along `axis`; with `return_indices`, a pair of this element and its index."""
    return best("gt", maximum, input, axis, return_indices, return_indices_tie_break_left, keep_dims)


@member
@builtin
def min(
    input: tensor,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Any:
    """The smallest element along `axis`; with `return_indices`, a pair of this element and its index."""
    return best("lt", minimum, input, axis, return_indices, return_indices_tie_break_left, keep_dims)


@member
@builtin
def argmax(input: tensor, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> tensor:
    """The index of the largest element along `axis`. Of several such elements, `tie_break_left` selects the first."""
    return max(input, axis, True, tie_break_left, keep_dims)[1]


@member
@builtin
def argmin(input: tensor, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> tensor:
    """The index of the smallest element along `axis`. Of several such elements, `tie_break_left` selects the first."""
    return min(input, axis, True, tie_break_left, keep_dims)[1]


# --- counting


@member
@builtin
def histogram(input: tensor, num_bins: int, mask: Any = None) -> tensor:
    """How often each of 0, 1, …, `num_bins` - 1 occurs in a 1-D integer tensor, where the mask is true. (Given.)"""
    if len(of_numbers(input, "histogram").shape) != 1:
        raise ValueError("histogram only supports 1D input")
    if not input.dtype.is_int():
        raise TypeError(f"histogram only supports integer input, not {input.dtype}")
    operands = [input.handle]
    if mask is not None:
        mask = to_tensor(mask)
        if mask.dtype != int1:
            raise ValueError("Mask must have boolean scalar type")
        operands.append(current().broadcast_to(mask.handle, input.shape))
    handle = current().create("tt.histogram", *operands, result=TensorType((num_bins,), I32))
    return tensor(handle, int32)
