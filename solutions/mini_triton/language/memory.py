"""Loads and stores.

A kernel loads and stores through a scalar pointer, or through a tensor of pointers, one for each element. A mask
selects the pointers to use.

Source: `load` and `store` in Triton's `python/triton/language/semantic.py`.
"""

from __future__ import annotations

from typing import Any

from mini_triton.ir.types import broadcast_shapes
from mini_triton.language.block_pointer import block_pointer
from mini_triton.language.context import builtin, current
from mini_triton.language.dtypes import int1, int8, pointer_type
from mini_triton.language.tensor import broadcast_together, build, convert, member, tensor, to_tensor

__all__ = ["load", "store"]

LOAD_CACHES = ("", None, ".ca", ".cg", ".cv")
STORE_CACHES = ("", None, ".wb", ".cg", ".cs", ".wt")
EVICTION_POLICIES = ("", None, "evict_first", "evict_last")


def hints_of(
    cache_modifier: Any, caches: tuple[Any, ...], eviction_policy: Any, volatile: bool = False
) -> dict[str, Any]:
    """The cache hint of a load or store, as attributes. Raises `ValueError` for unknown hints. (Given.)

    `hints_of(".cg", LOAD_CACHES, "")` is `{"cache": "cg"}`, and `hints_of("", LOAD_CACHES, "evict_last")` is
    `{"evict": "evict_last"}`. There is at most one hint, and none if the load is volatile: instructions of NVIDIA's
    GPUs cannot have two of these properties.
    """
    if cache_modifier not in caches:
        raise ValueError(f"Cache modifier {cache_modifier} not supported")
    if eviction_policy not in EVICTION_POLICIES:
        raise ValueError(f"Eviction policy {eviction_policy} not supported")
    if volatile:
        return {}
    if cache_modifier:
        return {"cache": cache_modifier.removeprefix(".")}
    return {"evict": eviction_policy} if eviction_policy else {}


def _check_pointer(pointer: Any, name: str, boundary_check: Any = (), padding_option: Any = "") -> None:
    """Raise `ValueError` unless `pointer` is a pointer, and for arguments that only block pointers accept. (Given.)"""
    if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
        current()  # outside of a kernel, this is the mistake
        given = getattr(pointer, "type", pointer)
        raise ValueError(f"Unsupported ptr type {given} in `tl.{name}`: its first argument must be a pointer")
    if boundary_check or padding_option:
        doing = {"load": "loading", "store": "storing"}[name]
        raise ValueError(
            f"`padding_option` or `boundary_check` argument is not supported for {doing} a tensor of pointers or "
            f"{doing} a scalar. Because the compiler does not know the boundary; please use block pointers (defined by "
            "`make_block_ptr`) instead"
        )


def _check_operand(what: str, operand: tensor, pointer: tensor) -> None:
    """Raise `ValueError` if `pointer` is a scalar and `operand` is not. (Given.)"""
    if operand.shape and not pointer.shape:
        raise ValueError(f"{what} argument cannot be block type if pointer argument is not a block")


def checked_mask(mask: Any, pointer: tensor) -> tensor:
    """A mask as a tensor. Raises `ValueError` if it is not boolean, or if only `pointer` is a scalar. (Given.)"""
    mask = to_tensor(mask)
    _check_operand("Mask", mask, pointer)
    if mask.dtype != int1:
        raise ValueError(f"Mask must have boolean scalar type, not {mask.dtype}")
    return mask


def as_bytes(pointer: tensor) -> tensor:
    """Convert pointers to int1 into pointers to int8. Return other pointers unchanged.

    In memory, a boolean is a byte.
    """
    # [task 4.5] A `const` pointer stays `const`.
    if pointer.dtype.element_ty == int1:
        return convert(pointer, pointer_type(int8, pointer.dtype.const))
    return pointer
    # [end]


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> tensor:
    """Load from `pointer` where `mask` is true. Elsewhere, the result is `other`, or undefined if `other` is None.

    The pointer and the mask are broadcast to their common shape, and `other` is broadcast to this shape. The result has
    the pointer's element dtype. Raises `ValueError` if `pointer` does not hold pointers, if the mask is not boolean, if
    the shapes cannot be broadcast, or if `other` is given without a mask.
    """
    hints = hints_of(cache_modifier, LOAD_CACHES, eviction_policy, bool(volatile))
    if isinstance(pointer, block_pointer):
        return _load_block(pointer, mask, other, boundary_check, padding_option, cache_modifier, eviction_policy)
    _check_pointer(pointer, "load", boundary_check, padding_option)
    # [task 4.5] For [8, 1] pointers to fp32, a mask of shape [4] and `other=0`, return an fp32[8, 4].
    # Through pointers to int1, `load` reads bytes, and returns an int1. For `other` without a mask, raise ValueError
    # "`other` cannot be provided without `mask`". `tt.load` takes one to three operands, and the attributes
    # `isVolatile` and `**hints`.
    # Given: `checked_mask`; `_check_operand`, whose first argument is "Other" here and "Value" in `store`.
    if other is not None and mask is None:
        raise ValueError("`other` cannot be provided without `mask`")
    dtype = pointer.dtype.element_ty
    operands = []
    if mask is not None:
        mask = checked_mask(mask, pointer)
        pointer, mask = broadcast_together(pointer, mask)
        operands.append(mask)
    pointer = as_bytes(pointer)
    if other is not None:
        other = to_tensor(other)
        _check_operand("Other", other, pointer)
        operands.append(broadcast_like(convert(other, pointer.dtype.element_ty), pointer))
    read = build("tt.load", pointer, *operands, dtype=pointer.dtype.element_ty, isVolatile=bool(volatile), **hints)
    return convert(read, dtype)
    # [end]


def broadcast_like(x: tensor, pointer: tensor) -> tensor:
    """Broadcast `x` to the shape of `pointer`. Raises `ValueError` if that is impossible. (Given.)"""
    shape = broadcast_shapes(x.shape, pointer.shape)
    if shape != pointer.shape:
        raise ValueError(f"Expected pointer argument to have shape {list(shape)} but got {list(pointer.shape)}")
    return broadcast_together(x, pointer)[0]


@member
@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Convert `value` to the pointer's element dtype, and store it through `pointer` where `mask` is true.

    The value and the mask are broadcast to the pointer's shape. Raises `ValueError` if `pointer` does not hold pointers
    or is `const`, if the mask is not boolean, or if the value or the mask cannot be broadcast to this shape.
    """
    hints = hints_of(cache_modifier, STORE_CACHES, eviction_policy)
    if isinstance(pointer, block_pointer):
        return _store_block(pointer, value, mask, boundary_check, cache_modifier, eviction_policy)
    _check_pointer(pointer, "store", boundary_check)
    # [task 4.5] Storing the number 1.5 through eight pointers to fp16 writes eight fp16 elements. Raise ValueError
    # "Cannot store to a constant pointer" for a `const` pointer. Unlike in a load, pointers are never broadcast,
    # because the store would then write to an address more than once. `tt.store` has no result, so use
    # `current().operation` instead of `build`; it takes the attributes `**hints`.
    if pointer.dtype.const:
        raise ValueError("Cannot store to a constant pointer")
    value = to_tensor(value)
    _check_operand("Value", value, pointer)
    masks = [] if mask is None else [broadcast_like(checked_mask(mask, pointer), pointer)]
    pointer = as_bytes(pointer)
    value = broadcast_like(convert(value, pointer.dtype.element_ty), pointer)
    current().operation("tt.store", *(operand.handle for operand in (pointer, value, *masks)), **hints)
    # [end]


def _load_block(
    pointer: block_pointer, mask: Any, other: Any, boundary_check: Any, padding_option: str, *hints: Any
) -> tensor:
    """Load from a block pointer. (Given.)"""
    if mask is not None or other is not None:
        raise ValueError("`mask` and `other` arguments cannot be specified for loading block pointers")
    inside, padding = pointer.mask(boundary_check), pointer.padding(padding_option)
    return load(pointer.pointers(), inside, None if inside is None else padding, (), "", *hints)


def _store_block(pointer: block_pointer, value: Any, mask: Any, boundary_check: Any, *hints: Any) -> None:
    """Store to a block pointer. (Given.)"""
    if mask is not None:
        raise ValueError("`mask` argument cannot be specified for storing through block pointers")
    value = to_tensor(value)
    if value.shape and value.shape != pointer.block_shape:
        raise ValueError(f"Block shape({pointer.block_shape}) and value shape({value.shape}) mismatch")
    element = pointer.base.dtype.element_ty
    if value.dtype != element:
        raise TypeError(f"Block element type({element}) and value element type({value.dtype}) mismatch")
    store(pointer.pointers(), value, pointer.mask(boundary_check), (), *hints)
