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
    # Task 2.3: The pointee of a pointer to a pointer is a pointer. Reject any type that is neither a pointer nor a
    # tensor of pointers; the message names the type.
    raise NotImplementedError("Task 2.3: Memory operations")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """Check that a mask has one boolean for every pointer."""
    # Task 2.3: None means no mask. Reject any mask of another shape or another element type, such as an `i1` for
    # `tensor<8x!tt.ptr<f32>>`; the message names the mask's type.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True, elementwise=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes).

    Offsets must be integers other than `i1`; they are read as signed.
    """
    # Task 2.3: Reject a `ptr` that is not a pointer, and an offset of another shape. What type does the result have?
    raise NotImplementedError("Task 2.3: Memory operations")


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
    # Task 2.3: Some elements of the result may come from `other`. Reject any `other` whose type does not allow this.
    raise NotImplementedError("Task 2.3: Memory operations")


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
    # Task 2.3: Reject an `f32` for `tensor<8x!tt.ptr<f32>>`: nothing is broadcast. The message names the value's type.
    raise NotImplementedError("Task 2.3: Memory operations")


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
    # Task 2.3: Check the operands as for a store. "fadd" also requires floats; all other operations except "exch"
    # require integers.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type", accesses=True)
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is the value that memory held before."""
    # Task 2.3: Which types can be compared with a value in memory, and which can be written there?
    raise NotImplementedError("Task 2.3: Memory operations")
