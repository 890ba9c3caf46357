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
"""What a load or store may say about caches: words and attributes up to Triton 3.8, one attribute in 3.9."""


def pointee(ptr: Type) -> Type:
    """The type of the values that `ptr` points to: `f32` for `!tt.ptr<f32>`, `tensor<8xf32>` for a tensor of eight."""
    # Task 2.3: Refuse what is no pointer, naming it; keep the shape, take the pointee as the element.
    raise NotImplementedError("Task 2.3: Memory operations")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """A mask has one boolean for every pointer."""
    # Task 2.3: No mask is fine; nothing broadcasts here. The message names the type that the mask has.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes). Offsets are signed, of any integer width above one bit."""
    # Task 2.3: A pointer, integers of the same shape (not `i1`); the result is the pointer's type.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.load", assembly=f"$ptr (, $mask)? (, $other)? {HINTS} attr-dict : type($ptr)")
def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    """Read through every pointer whose mask is true; the other elements are `other`, or undefined without it."""
    # Task 2.3: The result is the pointee in the pointer's shape, and `other` is of exactly that type.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.store", assembly=f"$ptr , $value (, $mask)? {HINTS} attr-dict : type($ptr)")
def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    """Write through every pointer whose mask is true. No result."""
    # Task 2.3: The value is of exactly the pointee's type; the message names the type that it has instead.
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
    # Task 2.3: Value and mask as for a store. `fadd` adds floats, `exch` takes anything, all others take integers.
    raise NotImplementedError("Task 2.3: Memory operations")


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type")
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is what memory held."""
    # Task 2.3: Both `cmp` and `val` are of the pointee's type.
    raise NotImplementedError("Task 2.3: Memory operations")
