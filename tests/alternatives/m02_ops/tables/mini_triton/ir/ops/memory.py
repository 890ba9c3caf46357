"""Memory operations; every operand is compared with the one type that it may have."""

from __future__ import annotations

from mini_triton.ir.attributes import AtomicOp, MemScope, MemSemantic
from mini_triton.ir.ops.definition import op, require
from mini_triton.ir.ops.elementwise import is_float, is_integer
from mini_triton.ir.types import I1, IntegerType, PointerType, Type, element_type, with_element

HINTS = "ignore(cacheModifier) ignore(evictionPolicy) ignore(cache) ignore(evict) ignore(cachePolicy)"
"""What a load or store may say about caches: words and attributes up to Triton 3.8, one attribute in 3.9."""


def pointee(ptr: Type) -> Type:
    """The type of the values that `ptr` points to: `f32` for `!tt.ptr<f32>`, `tensor<8xf32>` for a tensor of eight."""
    elements = [e.pointee for e in [element_type(ptr)] if isinstance(e, PointerType)]
    require(len(elements) == 1, f"{ptr} points nowhere")
    return with_element(ptr, *elements)


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """A mask has one boolean for every pointer."""
    booleans = with_element(ptr, I1)
    require(mask in {None, booleans}, f"{mask} masks nothing, {booleans} would")


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes). Offsets are signed, of any integer width above one bit."""
    offsets = [with_element(pointee(ptr), IntegerType(bits)) for bits in (8, 16, 32, 64)]
    require(offset in offsets, f"{offset} moves no {ptr}")
    return ptr


@op(
    "tt.load",
    assembly=f"$ptr (, $mask)? (, $other)? {HINTS} attr-dict : type($ptr)",
)
def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    """Read through every pointer whose mask is true; the other elements are `other`, or undefined without it."""
    _check_mask(ptr, mask)
    require((other or pointee(ptr)) == pointee(ptr), f"{other} is not what {ptr} points to")
    return pointee(ptr)


@op("tt.store", assembly=f"$ptr , $value (, $mask)? {HINTS} attr-dict : type($ptr)")
def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    """Write through every pointer whose mask is true. No result."""
    _check_mask(ptr, mask)
    require({value} == {pointee(ptr)}, f"{value} is not what {ptr} points to")


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
    takes = {"fadd": is_float, "exch": lambda type: True}.get(atomic_rmw_op, is_integer)
    require(takes(value), f"{atomic_rmw_op} does not take {value}")
    store(ptr, value, mask)
    return pointee(ptr)


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type")
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is what memory held."""
    require(cmp == val == pointee(ptr), f"{cmp} and {val} are not what {ptr} points to")
    return pointee(ptr)
