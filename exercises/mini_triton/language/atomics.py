"""Atomic operations, which read, change and write memory in one indivisible step.

Source: the atomics in Triton's `python/triton/language/semantic.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.ir.types import with_element
from mini_triton.language.casts import reinterpret
from mini_triton.language.context import builtin
from mini_triton.language.creation import full
from mini_triton.language.dtypes import DTYPES, bfloat16, float16, int1, pointer_type
from mini_triton.language.memory import _check_operand, checked_mask
from mini_triton.language.shape import broadcast_to
from mini_triton.language.tensor import build, choose, convert, member, tensor, to_tensor

__all__ = [
    *("atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor", "atomic_xchg", "atomic_cas")
]

SEMANTICS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = ("gpu", "cta", "sys")


def _order(sem: str | None, scope: str | None) -> dict[str, str]:
    """The attributes for memory order and scope: which other accesses are ordered, and for which threads. (Given.)"""
    if sem not in (None, "", *SEMANTICS):
        raise ValueError(f"Memory semantic {sem} not supported, only {', '.join(SEMANTICS)}")
    if scope not in (None, "", *SCOPES):
        raise ValueError(f"Memory scope {scope} not supported, only {', '.join(SCOPES)}")
    return {"sem": sem or "acq_rel", "scope": scope or "gpu"}


def _check_is_pointer(pointer: Any, name: str) -> None:
    """Raise `ValueError` for anything except pointers. (Given.)"""
    if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
        raise ValueError(f"Unsupported ptr type {getattr(pointer, 'type', pointer)} in `tl.{name}`")


def _check_pointer(pointer: Any, name: str) -> None:
    """Raise `ValueError` for a `const` pointer, and for elements that the operation does not support. (Given.)"""
    _check_is_pointer(pointer, name)
    if pointer.dtype.const:
        raise ValueError("Cannot store to a constant pointer")
    element = pointer.dtype.element_ty
    half = element in (float16, bfloat16)
    if (half and name != "atomic_add") or (element.width < 32 and not half):
        raise ValueError(f"{name} does not support {element}")


def _operands(name: str, pointer: Any, value: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
    """The three operands of `tt.atomic_rmw`: `pointer`, and the value and the mask that match it.

    The value and the mask are broadcast to the pointer's shape, and the value is converted to the pointer's element
    dtype. Raises `ValueError` for invalid pointers, and for a value or mask that cannot be broadcast to the pointer's
    shape.
    """
    _check_pointer(pointer, name)
    # Task 4.9: For [8, 4] pointers to fp32, the number 1 and no mask, return the pointers, an fp32[8, 4] and an
    # int1[8, 4] filled with True. A value of shape [4] is rejected. Given: `checked_mask`, `_check_operand`.
    raise NotImplementedError("Task 4.9: Dot products and atomics")


def _rmw(operation: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]) -> tensor:
    """Read memory, combine it with `value` and write it back, where `mask` is true. Returns the old values. (Given.)"""
    return build("tt.atomic_rmw", pointer, value, mask, atomic_rmw_op=operation, dtype=value.dtype, **order)


@member
@builtin
def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Add `val` to the floats or integers in memory, where `mask` is true. Returns the old values."""
    # Task 4.9: Use "add", or "fadd" for floats. Given: `_rmw`, `_order`.
    raise NotImplementedError("Task 4.9: Dot products and atomics")


@member
@builtin
def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Store the maximum of `val` and the values in memory, where `mask` is true. Returns the old values."""
    # Task 4.9: Use "max" for signed and "umax" for unsigned integers. For floats, use `_by_bits` with the two
    # operations that the chapter asks for.
    raise NotImplementedError("Task 4.9: Dot products and atomics")


@member
@builtin
def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Store the minimum of `val` and the values in memory, where `mask` is true. Returns the old values."""
    # Task 4.9: Use "min" for signed and "umin" for unsigned integers. For floats, use `_by_bits` with the two
    # operations that the chapter asks for.
    raise NotImplementedError("Task 4.9: Dot products and atomics")


def _by_bits(
    operation: str, mirrored: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]
) -> tensor:
    """Store the maximum or minimum of floats, by operations on their bits. Returns the old values.

    `operation` is for the elements of `value` whose sign bit is clear, and `mirrored` for all others.
    """
    # Task 4.9: No element may be updated twice. Given: `reinterpret`, `_rmw`.
    raise NotImplementedError("Task 4.9: Dot products and atomics")


@member
@builtin
def atomic_and(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Clear the bits in memory that are clear in `val`. Returns the old values."""
    return _rmw("and", *_integers("atomic_and", pointer, val, mask), _order(sem, scope))


@member
@builtin
def atomic_or(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Set the bits in memory that are set in `val`. Returns the old values."""
    return _rmw("or", *_integers("atomic_or", pointer, val, mask), _order(sem, scope))


@member
@builtin
def atomic_xor(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Flip the bits in memory that are set in `val`. Returns the old values."""
    return _rmw("xor", *_integers("atomic_xor", pointer, val, mask), _order(sem, scope))


def _integers(name: str, pointer: Any, val: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
    """`_operands` of an operation on integers. Raises `TypeError` for any other value. (Given.)"""
    pointer, value, mask = _operands(name, pointer, val, mask)
    if not value.dtype.is_int():
        raise TypeError(f"{name} does not support {value.dtype}")
    return pointer, value, mask


@member
@builtin
def atomic_xchg(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Write `val`. Returns the old values in memory."""
    return _rmw("exch", *_operands("atomic_xchg", pointer, val, mask), _order(sem, scope))


@member
@builtin
def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: str | None = None, scope: str | None = None) -> tensor:
    """Compare and swap: write `val` where memory holds `cmp`. Returns the old values.

    No tensor is converted or broadcast; the result has the dtype of `val`, as in real Triton. Raises `ValueError` for
    elements that do not have 16, 32 or 64 bits, and `TypeError` for operands whose types do not match. The message of
    the `TypeError` contains the dtypes, such as fp32 and int32.
    """
    _check_is_pointer(pointer, "atomic_cas")
    # Task 4.9: For [8] pointers to int32, `cmp` and `val` must be int32[8]. Numbers become tensors of their own dtype,
    # so a scalar pointer to int32 accepts the numbers 0 and 1. Only the IR types must match, so it also accepts a
    # uint32. Given: `_order`.
    raise NotImplementedError("Task 4.9: Dot products and atomics")
