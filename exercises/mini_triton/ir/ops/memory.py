"""Reading and writing memory: pointer arithmetic, masked loads and stores, atomics.

A tensor of pointers gathers and scatters: one address for every element. A mask says which elements take part;
the others touch no memory at all.

Source: Triton's `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.attributes import AtomicOp, MemScope, MemSemantic
from mini_triton.ir.ops.definition import op, require
from mini_triton.ir.ops.elementwise import is_float, is_integer
from mini_triton.ir.types import I1, PointerType, Type, element_type, shape_of, with_element

HINTS = "ignore(cacheModifier) ignore(evictionPolicy) ignore(cache) ignore(evict) ignore(cachePolicy)"
"""Hints about caches on loads and stores: words and attributes up to Triton 3.8, one attribute in 3.9."""


def pointee(ptr: Type) -> Type:
    """The type of the values that `ptr` points to: `f32` for `!tt.ptr<f32>`, `tensor<8xf32>` for a tensor of eight."""
    # Task 2.3: A pointer to a pointer points to a pointer. The message for anything else names its type.
    raise NotImplementedError("Task 2.3: Memory operations")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """A mask has one boolean for every pointer."""
    # Task 2.3: A scalar pointer takes an `i1`, `tensor<8x!tt.ptr<f32>>` a `tensor<8xi1>`; None means no mask. The
    # message names the type that the mask has.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes). Offsets are signed, of any integer width above one bit."""
    # Task 2.3: `tensor<8x!tt.ptr<f32>>` moved by `tensor<8xi64>` keeps its type. Pointer and offset have one shape.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.load", assembly=f"$ptr (, $mask)? (, $other)? {HINTS} attr-dict : type($ptr)")
def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    """Read through every pointer whose mask is true; the other elements are `other`, or undefined without it."""
    # Task 2.3: Through `tensor<8x!tt.ptr<f32>>` it reads `tensor<8xf32>`, which is the type of `other`, too.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.store", assembly=f"$ptr , $value (, $mask)? {HINTS} attr-dict : type($ptr)")
def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    """Write through every pointer whose mask is true. No result."""
    # Task 2.3: Through `tensor<8x!tt.ptr<f32>>` it writes `tensor<8xf32>`. The message names the type that the value
    # has.
    raise NotImplementedError("Task 2.3: Memory operations")


@op(
    "tt.atomic_rmw",
    assembly="#atomic_rmw_op , #sem , #scope , $ptr , $value (, $mask)? attr-dict : functional-type",
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
    """Read, combine with `value`, write back, in one step that nothing interrupts. The result is what was read."""
    # Task 2.3: What a store accepts; but "fadd" takes floats only, and all others except "exch" integers only.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type")
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is what memory held."""
    # Task 2.3: Through `!tt.ptr<i32>` both `cmp` and `val` are `i32`.
    raise NotImplementedError("Task 2.3: Memory operations")
