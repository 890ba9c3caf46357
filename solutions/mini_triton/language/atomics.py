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
    # [task 4.9] For [8, 4] pointers to fp32, the number 1 and no mask, return the pointers, an fp32[8, 4] and an
    # int1[8, 4] filled with True. A value of shape [4] is rejected. Given: `checked_mask`, `_check_operand`.
    value = to_tensor(value)
    _check_operand("Value", value, pointer)
    mask = full((), True, int1) if mask is None else checked_mask(mask, pointer)
    value = convert(value, pointer.dtype.element_ty)
    if pointer.shape:
        value, mask = broadcast_to(value, pointer.shape), broadcast_to(mask, pointer.shape)
    return pointer, value, mask
    # [end]


def _rmw(operation: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]) -> tensor:
    """Read memory, combine it with `value` and write it back, where `mask` is true. Returns the old values. (Given.)"""
    return build("tt.atomic_rmw", pointer, value, mask, atomic_rmw_op=operation, dtype=value.dtype, **order)


@member
@builtin
def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Add `val` to the floats or integers in memory, where `mask` is true. Returns the old values."""
    # [task 4.9] Use "add", or "fadd" for floats. Given: `_rmw`, `_order`.
    pointer, value, mask = _operands("atomic_add", pointer, val, mask)
    return _rmw(choose(value.dtype, "fadd", "add"), pointer, value, mask, _order(sem, scope))
    # [end]


@member
@builtin
def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Store the maximum of `val` and the values in memory, where `mask` is true. Returns the old values."""
    # [task 4.9] Use "max" for signed and "umax" for unsigned integers. For floats, use `_by_bits` with the two
    # operations that the chapter asks for.
    pointer, value, mask = _operands("atomic_max", pointer, val, mask)
    if value.dtype.is_floating():
        return _by_bits("max", "umin", pointer, value, mask, _order(sem, scope))
    return _rmw(choose(value.dtype, "", "max", "umax"), pointer, value, mask, _order(sem, scope))
    # [end]


@member
@builtin
def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    """Store the minimum of `val` and the values in memory, where `mask` is true. Returns the old values."""
    # [task 4.9] Use "min" for signed and "umin" for unsigned integers. For floats, use `_by_bits` with the two
    # operations that the chapter asks for.
    pointer, value, mask = _operands("atomic_min", pointer, val, mask)
    if value.dtype.is_floating():
        return _by_bits("min", "umax", pointer, value, mask, _order(sem, scope))
    return _rmw(choose(value.dtype, "", "min", "umin"), pointer, value, mask, _order(sem, scope))
    # [end]


def _by_bits(
    operation: str, mirrored: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]
) -> tensor:
    """Store the maximum or minimum of floats, by operations on their bits. Returns the old values.

    `operation` is for the elements of `value` whose sign bit is clear, and `mirrored` for all others.
    """
    # [task 4.9] No element may be updated twice. Given: `reinterpret`, `_rmw`.
    width = value.dtype.width
    signed, unsigned = DTYPES[f"int{width}"], DTYPES[f"uint{width}"]
    bits, place = reinterpret(value, signed), reinterpret(pointer, pointer_type(signed))
    negative = convert(reinterpret(value, unsigned) >> (width - 1), int1)
    positive = ~negative
    if_positive = _rmw(operation, place, bits, mask & positive, order)
    if_negative = _rmw(mirrored, place, bits, mask & negative, order)
    return reinterpret(build("arith.select", positive, if_positive, if_negative, dtype=signed), value.dtype)
    # [end]


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
    # [task 4.9] For [8] pointers to int32, `cmp` and `val` must be int32[8]. Numbers become tensors of their own dtype,
    # so a scalar pointer to int32 accepts the numbers 0 and 1. Only the IR types must match, so it also accepts a
    # uint32. Given: `_order`.
    element = pointer.dtype.element_ty
    if element.width not in (16, 32, 64):
        raise ValueError(f"atomic_cas only supports elements with width {{16, 32, 64}}, not {element}")
    cmp, val = to_tensor(cmp), to_tensor(val)
    if not cmp.handle.type == val.handle.type == with_element(pointer.handle.type, element.ir_type):
        raise TypeError(f"atomic_cas through {pointer!r} needs {element}, not {cmp!r} and {val!r}")
    return build("tt.atomic_cas", pointer, cmp, val, dtype=val.dtype, **_order(sem, scope))
    # [end]
