"""Memory operations; every operand is compared with the one type that it may have."""

from mini_triton.ir.types import IntegerType


def pointee(ptr: Type) -> Type:
    elements = [e.pointee for e in [element_type(ptr)] if isinstance(e, PointerType)]
    require(len(elements) == 1, f"{ptr} points nowhere")
    return with_element(ptr, *elements)


def _check_mask(ptr: Type, mask: Type | None) -> None:
    booleans = with_element(ptr, I1)
    require(mask in {None, booleans}, f"{mask} masks nothing, {booleans} would")


def addptr(ptr: Type, offset: Type) -> Type:
    offsets = [with_element(pointee(ptr), IntegerType(bits)) for bits in (8, 16, 32, 64)]
    require(offset in offsets, f"{offset} moves no {ptr}")
    return ptr


def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    _check_mask(ptr, mask)
    require((other or pointee(ptr)) == pointee(ptr), f"{other} is not what {ptr} points to")
    return pointee(ptr)


def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    _check_mask(ptr, mask)
    require({value} == {pointee(ptr)}, f"{value} is not what {ptr} points to")


def atomic_rmw(
    ptr: Type,
    value: Type,
    mask: Type | None = None,
    *,
    atomic_rmw_op: AtomicOp,
    sem: MemSemantic,
    scope: MemScope,
) -> Type:
    takes = {"fadd": is_float, "exch": lambda type: True}.get(atomic_rmw_op, is_integer)
    require(takes(value), f"{atomic_rmw_op} does not take {value}")
    store(ptr, value, mask)
    return pointee(ptr)


def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    require(cmp == val == pointee(ptr), f"{cmp} and {val} are not what {ptr} points to")
    return pointee(ptr)
