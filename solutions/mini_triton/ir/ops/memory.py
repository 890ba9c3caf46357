"""Reading and writing memory: pointer arithmetic, masked loads and stores, atomics.

A load through a tensor of pointers gathers elements from any addresses, and a store scatters them. Memory is accessed
only where the mask is true.

Source: Triton's `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.attributes import AtomicOp, CacheModifier, EvictionPolicy, MemScope, MemSemantic
from mini_triton.ir.ops.definition import READS, op, require
from mini_triton.ir.ops.elementwise import is_float, is_integer
from mini_triton.ir.types import I1, PointerType, Type, element_type, shape_of, with_element

HINTS = "(cacheModifier = #cache)? (evictionPolicy = #evict)? ignore(cachePolicy)"
"""Hints for the GPU's caches. Triton 3.9 prints both as one attribute, `cachePolicy`, which is not read."""


def pointee(ptr: Type) -> Type:
    """The type of the values at `ptr`: `f32` for `!tt.ptr<f32>`, `tensor<8xf32>` for eight such pointers."""
    # [task 2.3] The pointee of a pointer to a pointer is a pointer. Reject any type that is neither a pointer nor a
    # tensor of pointers; the message names the type.
    element = element_type(ptr)
    if not isinstance(element, PointerType):
        raise TypeError(f"it needs a pointer, got {ptr}")
    return with_element(ptr, element.pointee)
    # [end]


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """Check that a mask has one boolean for every pointer."""
    # [task 2.3] None means no mask. Reject any mask of another shape or another element type, such as an `i1` for
    # `tensor<8x!tt.ptr<f32>>`; the message names the mask's type.
    if mask is not None:
        require(mask == with_element(ptr, I1), f"its mask must be {with_element(ptr, I1)}, got {mask}")
    # [end]


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True, elementwise=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes).

    Offsets must be integers other than `i1`; they are read as signed.
    """
    # [task 2.3] Reject a `ptr` that is not a pointer, and an offset of another shape. What type does the result have?
    pointee(ptr)
    require(is_integer(offset) and element_type(offset) != I1, f"its offset must be an integer, got {offset}")
    require(shape_of(ptr) == shape_of(offset), f"pointer and offset differ in shape: {ptr} and {offset}")
    return ptr
    # [end]


@op("tt.load", assembly=f"$ptr (, $mask)? (, $other)? {HINTS} attr-dict : type($ptr)", effects=READS, accesses=True)
def load(
    ptr: Type,
    mask: Type | None = None,
    other: Type | None = None,
    *,
    cache: CacheModifier = "none",
    evict: EvictionPolicy = "evict_normal",
    isVolatile: bool = False,
) -> Type:
    """Load from every pointer whose mask is true. Elsewhere, the result is `other`, or undefined without `other`."""
    # [task 2.3] Some elements of the result may come from `other`. Reject any `other` whose type does not allow this.
    _check_mask(ptr, mask)
    result = pointee(ptr)
    require(other is None or other == result, f"its other must be {result}, got {other}")
    return result
    # [end]


@op("tt.store", assembly=f"$ptr , $value (, $mask)? {HINTS} attr-dict : type($ptr)", accesses=True)
def store(
    ptr: Type,
    value: Type,
    mask: Type | None = None,
    *,
    cache: CacheModifier = "none",
    evict: EvictionPolicy = "evict_normal",
) -> None:
    """Store to every pointer whose mask is true. There is no result."""
    # [task 2.3] Reject an `f32` for `tensor<8x!tt.ptr<f32>>`: nothing is broadcast. The message names the value's type.
    _check_mask(ptr, mask)
    require(value == pointee(ptr), f"its value must be {pointee(ptr)}, got {value}")
    # [end]


@op(
    "tt.atomic_rmw",
    assembly="#atomic_rmw_op , #sem , #scope , $ptr , $value (, $mask)? attr-dict : functional-type",
    accesses=True,
)
def atomic_rmw(
    ptr: Type,
    value: Type,
    mask: Type | None = None,
    *,
    atomic_rmw_op: AtomicOp,
    sem: MemSemantic,
    scope: MemScope,
) -> Type:
    """Read, combine with `value` and write back, in one uninterruptible step. The result is the value that was read."""
    # [task 2.3] Check the operands as for a store. "fadd" also requires floats; all other operations except "exch"
    # require integers.
    store(ptr, value, mask)
    if atomic_rmw_op == "fadd":
        require(is_float(value), f"fadd needs floats, got {value}")
    elif atomic_rmw_op != "exch":
        require(is_integer(value), f"{atomic_rmw_op} needs integers, got {value}")
    return value
    # [end]


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type", accesses=True)
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is the value that memory held before."""
    # [task 2.3] Which types can be compared with a value in memory, and which can be written there?
    store(ptr, cmp)
    store(ptr, val)
    return val
    # [end]
