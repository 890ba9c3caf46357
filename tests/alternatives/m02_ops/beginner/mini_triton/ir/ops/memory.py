"""Memory operations, one question at a time."""

from __future__ import annotations

from mini_triton.ir.attributes import AtomicOp, MemScope, MemSemantic
from mini_triton.ir.ops.definition import op
from mini_triton.ir.ops.elementwise import is_float, is_integer
from mini_triton.ir.types import I1, PointerType, Type, element_type, shape_of, with_element

HINTS = "ignore(cacheModifier) ignore(evictionPolicy) ignore(cache) ignore(evict) ignore(cachePolicy)"
"""What a load or store may say about caches: words and attributes up to Triton 3.8, one attribute in 3.9."""


def pointee(ptr: Type) -> Type:
    """The type of the values that `ptr` points to: `f32` for `!tt.ptr<f32>`, `tensor<8xf32>` for a tensor of eight."""
    element = element_type(ptr)
    if isinstance(element, PointerType):
        return with_element(ptr, element.pointee)
    raise TypeError(f"it needs a pointer, got {ptr}")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """A mask has one boolean for every pointer."""
    if mask is None:
        return
    if element_type(mask) != I1:
        raise TypeError(f"its mask must be boolean, got {mask}")
    if shape_of(mask) != shape_of(ptr):
        raise TypeError(f"its mask must have the shape of {ptr}, got {mask}")


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes). Offsets are signed, of any integer width above one bit."""
    if not isinstance(element_type(ptr), PointerType):
        raise TypeError(f"it needs a pointer, got {ptr}")
    if not is_integer(offset):
        raise TypeError(f"its offset must be an integer, got {offset}")
    if element_type(offset) == I1:
        raise TypeError("its offset must not be a boolean")
    if shape_of(ptr) != shape_of(offset):
        raise TypeError(f"pointer and offset differ in shape: {ptr} and {offset}")
    return ptr


@op(
    "tt.load",
    assembly=f"$ptr (, $mask)? (, $other)? {HINTS} attr-dict : type($ptr)",
)
def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    """Read through every pointer whose mask is true; the other elements are `other`, or undefined without it."""
    value = pointee(ptr)
    _check_mask(ptr, mask)
    if other is not None:
        if other != value:
            raise TypeError(f"its other must be {value}, got {other}")
    return value


@op("tt.store", assembly=f"$ptr , $value (, $mask)? {HINTS} attr-dict : type($ptr)")
def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    """Write through every pointer whose mask is true. No result."""
    expected = pointee(ptr)
    if value != expected:
        raise TypeError(f"its value must be {expected}, got {value}")
    _check_mask(ptr, mask)


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
    expected = pointee(ptr)
    if value != expected:
        raise TypeError(f"its value must be {expected}, got {value}")
    _check_mask(ptr, mask)
    if atomic_rmw_op == "exch":
        return value
    if atomic_rmw_op == "fadd":
        if not is_float(value):
            raise TypeError(f"fadd needs floats, got {value}")
        return value
    if not is_integer(value):
        raise TypeError(f"{atomic_rmw_op} needs integers, got {value}")
    return value


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type")
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is what memory held."""
    expected = pointee(ptr)
    if cmp != expected:
        raise TypeError(f"it must compare with {expected}, got {cmp}")
    if val != expected:
        raise TypeError(f"its value must be {expected}, got {val}")
    return expected
