"""Memory operations, one question at a time."""


def pointee(ptr: Type) -> Type:
    element = element_type(ptr)
    if isinstance(element, PointerType):
        return with_element(ptr, element.pointee)
    raise TypeError(f"it needs a pointer, got {ptr}")


def _check_mask(ptr: Type, mask: Type | None) -> None:
    if mask is None:
        return
    if element_type(mask) != I1:
        raise TypeError(f"its mask must be boolean, got {mask}")
    if shape_of(mask) != shape_of(ptr):
        raise TypeError(f"its mask must have the shape of {ptr}, got {mask}")


def addptr(ptr: Type, offset: Type) -> Type:
    if not isinstance(element_type(ptr), PointerType):
        raise TypeError(f"it needs a pointer, got {ptr}")
    if not is_integer(offset):
        raise TypeError(f"its offset must be an integer, got {offset}")
    if element_type(offset) == I1:
        raise TypeError("its offset must not be a boolean")
    if shape_of(ptr) != shape_of(offset):
        raise TypeError(f"pointer and offset differ in shape: {ptr} and {offset}")
    return ptr


def load(ptr: Type, mask: Type | None = None, other: Type | None = None, *, isVolatile: bool = False) -> Type:
    value = pointee(ptr)
    _check_mask(ptr, mask)
    if other is not None:
        if other != value:
            raise TypeError(f"its other must be {value}, got {other}")
    return value


def store(ptr: Type, value: Type, mask: Type | None = None) -> None:
    expected = pointee(ptr)
    if value != expected:
        raise TypeError(f"its value must be {expected}, got {value}")
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


def atomic_cas(ptr: Type, cmp: Type, val: Type, *, sem: MemSemantic, scope: MemScope) -> Type:
    expected = pointee(ptr)
    if cmp != expected:
        raise TypeError(f"it must compare with {expected}, got {cmp}")
    if val != expected:
        raise TypeError(f"its value must be {expected}, got {val}")
    return expected
