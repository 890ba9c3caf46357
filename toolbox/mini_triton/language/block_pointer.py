"""Block pointers: each describes a block of a matrix in memory. (Given.)

    rows = tl.make_block_ptr(x, shape=(M, N), strides=(N, 1), offsets=(0, 0), block_shape=(16, 64), order=(1, 0))
    block = tl.load(rows, boundary_check=(0, 1), padding_option="zero")
    rows = tl.advance(rows, (0, 64))

Newer Triton does not have operations for block pointers, and our IR does not contain them either. Where a kernel uses a
block pointer, the compiler builds a tensor of pointers and a mask.

Source: `make_block_ptr` in Triton 3.6's `semantic.py`, and its `RewriteTensorPointer.cpp`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.ir.types import TensorType
from mini_triton.language.constexpr import RunTimeValue, unwrap
from mini_triton.language.context import builtin
from mini_triton.language.creation import arange, full
from mini_triton.language.dtypes import dtype, int1, int8, int32, int64, pointer_type
from mini_triton.language.shape import broadcast_to, expand_dims
from mini_triton.language.tensor import block_type, convert, make_scalar, member, tensor

__all__ = ["make_block_ptr", "advance"]


@dataclass(frozen=True)
class block_pointer(RunTimeValue):
    """A block of `block_shape` in an array, at `offsets`. Shape, strides and offsets are int64 scalars, in elements.

    A block need not be contiguous: an offset can be a tensor with the index of each row, as for `desc.gather`.
    """

    base: tensor
    shape: tuple[tensor, ...]
    strides: tuple[tensor, ...]
    offsets: tuple[tensor, ...]
    block_shape: tuple[int, ...]

    @property
    def dtype(self) -> pointer_type:
        """A pointer to a block. `p.dtype.element_ty` is the type of the block, which `x.to` accepts."""
        element = block_type(self.base.dtype.element_ty, self.block_shape)
        return pointer_type(element, self.base.dtype.const)  # type: ignore[arg-type]

    type = dtype

    def advance(self, offsets: Any) -> block_pointer:
        """The block pointer moved by `offsets` elements. `self` does not change."""
        steps = widen(listed(offsets), narrow=True)
        if len(steps) != len(self.offsets):
            raise ValueError(f"a block of {len(self.offsets)} dimensions cannot be advanced by {offsets}")
        moved = tuple(old + step for old, step in zip(self.offsets, steps, strict=True))
        return dataclasses.replace(self, offsets=moved)

    def pointers(self) -> tensor:
        """A pointer for each element of the block."""
        pointers = broadcast_to(self.base, self.block_shape)
        for axis, stride in enumerate(self.strides):
            pointers = pointers + broadcast_to(self._indices(axis) * stride, self.block_shape)
        return pointers

    def mask(self, boundary_check: Sequence[int]) -> tensor | None:
        """Whether each element is inside the array, checked along the dimensions in `boundary_check`."""
        mask: tensor | None = None
        for axis in _checked_axes(boundary_check, len(self.block_shape)):
            indices = self._indices(axis)
            inside = broadcast_to((indices >= 0) & (indices < self.shape[axis]), self.block_shape)
            mask = inside if mask is None else mask & inside
        return mask

    def padding(self, option: str) -> tensor | None:
        """The value of elements outside the array. The `option` is "zero", "nan", or "" for an undefined value."""
        if option not in ("", None, "zero", "nan"):
            raise ValueError(f"Padding option {option} not supported")
        element = self.base.dtype.element_ty
        if option == "nan" and element.is_int():
            raise ValueError("Padding option `nan` is not supported for integer block pointers")
        return full((), math.nan if option == "nan" else 0, element) if option else None

    def _indices(self, axis: int) -> tensor:
        """The indices of the block's elements along `axis`, as a tensor with the block's rank."""
        indices = self.offsets[axis]
        if not indices.shape:
            indices = indices + convert(arange(0, self.block_shape[axis]), int64)
        return expand_dims(indices, [i for i in range(len(self.block_shape)) if i != axis])


@builtin
def make_block_ptr(base: tensor, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any) -> block_pointer:
    """A block of `block_shape` at `offsets` in the array at `base`, of the given shape and strides.

    `order` must be a permutation, but has no other effect. Raises `ValueError` for lists of different lengths, and for
    a `base` that is not a pointer.
    """
    if not isinstance(base, tensor) or not base.dtype.is_ptr() or base.shape:
        raise ValueError("Expected `base` to be a pointer type (but not a block pointer type or others)")
    if base.dtype.element_ty == int1:
        base = convert(base, pointer_type(int8))
    shape, strides, offsets, block_shape, order = map(listed, (shape, strides, offsets, block_shape, order))
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"Expected a permutation of (0, 1, ..., len(order)-1) in order, got {order}")
    if len({len(block_shape), len(shape), len(strides), len(offsets), len(order)}) > 1:
        raise ValueError("Expected shape/strides/offsets/block_shape to have the same length")
    TensorType(block_shape, base.dtype.element_ty.ir_type)  # checks the shape
    return block_pointer(base, widen(shape), widen(strides), widen(offsets, narrow=True), block_shape)


@member
@builtin
def advance(base: block_pointer, offsets: Any) -> block_pointer:
    """`base.advance(offsets)` as a function."""
    if not isinstance(base, block_pointer):
        raise TypeError(f"tl.advance moves block pointers, not {base!r}")
    return base.advance(offsets)


def listed(values: Any) -> tuple[Any, ...]:
    """A tuple or a list, or one value, as a tuple of plain values."""
    return tuple(map(unwrap, values)) if isinstance(values, tuple | list) else (unwrap(values),)


def widen(values: Sequence[Any], narrow: bool = False, dtype: dtype = int64) -> tuple[tensor, ...]:
    """Convert scalars and numbers to `dtype`. With `narrow`, they must fit 32 bits."""
    wide = []
    for value in values:
        if isinstance(value, tensor):
            if value.shape or not value.dtype.is_int():
                raise TypeError(f"Expected an integer scalar type in shape/strides/offsets, got {value!r}")
            if narrow and value.dtype == int64:
                raise TypeError(
                    "Block pointers only support 32 bit `offsets/block_shape`, "
                    "add a `.to(tl.int32)` or use regular indexing for 64 bit support"
                )
            wide.append(convert(value, dtype))
        elif isinstance(value, int):
            low, high = (int32 if narrow else int64).int_range()
            if not low <= value <= high:
                kind = "32 bit `offsets/block_shape`" if narrow else "64 bit `shape/strides`"
                raise ValueError(f"Block pointers only support {kind}, got a value {value} which is out of the range")
            wide.append(make_scalar(value, dtype))
        else:
            raise TypeError(f"Unsupported element type in shape/strides/offsets: {value!r}")
    return tuple(wide)


def _checked_axes(boundary_check: Any, rank: int) -> list[int]:
    axes = listed(boundary_check)
    if any(not isinstance(axis, int) or not 0 <= axis < rank for axis in axes):
        raise ValueError(f"boundary_check names dimensions from 0 to {rank - 1}, got {axes}")
    if len(set(axes)) < len(axes):
        raise ValueError(f"Duplicate dimension in `boundary_check`: {axes}")
    return sorted(axes)
