"""Memory operations; rules by matching."""

from mini_triton.ir.types import FloatType, IntegerType


def pointee(ptr: Type) -> Type:
    match element_type(ptr):
        case PointerType(pointee=behind):
            return with_element(ptr, behind)
    raise TypeError(f"{ptr} points to nothing")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    _expect("mask", mask, with_element(ptr, I1))


def addptr(ptr: Type, offset: Type) -> Type:
    match (element_type(ptr), element_type(offset)):
        case (PointerType(), IntegerType(width=bits)) if bits > 1 and shape_of(ptr) == shape_of(offset):
            return ptr
    raise TypeError(f"{ptr} cannot be moved by {offset}")


def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    value = pointee(ptr)
    _check_mask(ptr, mask)
    _expect("other", other, value)
    return value


def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    _expect("value", value, pointee(ptr))
    _check_mask(ptr, mask)


def atomic_rmw(
    ptr: Type,
    value: Type,
    mask: Type | None = None,
    *,
    atomic_rmw_op: AtomicOp,
    sem: MemSemantic,
    scope: MemScope,
) -> Type:
    store(ptr, value, mask)
    match (atomic_rmw_op, element_type(value)):
        case ("exch", _) | ("fadd", FloatType()):
            return value
        case ("fadd", _):
            raise TypeError(f"fadd adds no {value}")
        case (_, IntegerType()):
            return value
    raise TypeError(f"{atomic_rmw_op} takes no {value}")


def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    for name, value in (("cmp", cmp), ("val", val)):
        _expect(name, value, pointee(ptr))
    return cmp


def _expect(name: str, got: Type | None, wanted: Type) -> None:
    """An operand that is there has just the type that it should have."""
    if got not in (None, wanted):
        raise TypeError(f"its {name} must be {wanted}, got {got}")
