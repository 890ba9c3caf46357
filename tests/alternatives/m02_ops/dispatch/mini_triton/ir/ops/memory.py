"""Memory operations; rules by matching."""

from __future__ import annotations

from mini_triton.ir.attributes import AtomicOp, MemScope, MemSemantic
from mini_triton.ir.ops.definition import op
from mini_triton.ir.types import I1, FloatType, IntegerType, PointerType, Type, element_type, shape_of, with_element

HINTS = "ignore(cacheModifier) ignore(evictionPolicy) ignore(cache) ignore(evict) ignore(cachePolicy)"
"""What a load or store may say about caches: words and attributes up to Triton 3.8, one attribute in 3.9."""


def pointee(ptr: Type) -> Type:
    """The type of the values that `ptr` points to: `f32` for `!tt.ptr<f32>`, `tensor<8xf32>` for a tensor of eight."""
    match element_type(ptr):
        case PointerType(pointee=behind):
            return with_element(ptr, behind)
    raise TypeError(f"{ptr} points to nothing")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    """A mask has one boolean for every pointer."""
    _expect("mask", mask, with_element(ptr, I1))


@op("tt.addptr", assembly="$ptr , $offset attr-dict : type(result) , type($offset)", pure=True)
def addptr(ptr: Type, offset: Type) -> Type:
    """Move each pointer by `offset` elements (not bytes). Offsets are signed, of any integer width above one bit."""
    match (element_type(ptr), element_type(offset)):
        case (PointerType(), IntegerType(width=bits)) if bits > 1 and shape_of(ptr) == shape_of(offset):
            return ptr
    raise TypeError(f"{ptr} cannot be moved by {offset}")


@op(
    "tt.load",
    assembly=f"$ptr (, $mask)? (, $other)? {HINTS} attr-dict : type($ptr)",
)
def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    """Read through every pointer whose mask is true; the other elements are `other`, or undefined without it."""
    value = pointee(ptr)
    _check_mask(ptr, mask)
    _expect("other", other, value)
    return value


@op("tt.store", assembly=f"$ptr , $value (, $mask)? {HINTS} attr-dict : type($ptr)")
def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    """Write through every pointer whose mask is true. No result."""
    _expect("value", value, pointee(ptr))
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
    store(ptr, value, mask)
    match (atomic_rmw_op, element_type(value)):
        case ("exch", _) | ("fadd", FloatType()):
            return value
        case ("fadd", _):
            raise TypeError(f"fadd adds no {value}")
        case (_, IntegerType()):
            return value
    raise TypeError(f"{atomic_rmw_op} takes no {value}")


@op("tt.atomic_cas", assembly="#sem , #scope , $ptr , $cmp , $val attr-dict : functional-type")
def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    """Compare and swap: write `val` where memory holds `cmp`. The result is what memory held."""
    for name, value in (("cmp", cmp), ("val", val)):
        _expect(name, value, pointee(ptr))
    return cmp


def _expect(name: str, got: Type | None, wanted: Type) -> None:
    """An operand that is there has just the type that it should have."""
    if got not in (None, wanted):
        raise TypeError(f"its {name} must be {wanted}, got {got}")
