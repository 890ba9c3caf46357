from mini_triton.language.context import current


def _operands(name: str, pointer: Any, value: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
    _check_pointer(pointer, name)
    value = to_tensor(value)
    if mask is None:
        mask = full(pointer.shape, True, int1)
    else:
        mask = checked_mask(mask, pointer)
    if len(pointer.shape) > 0:
        mask = broadcast_to(mask, pointer.shape)
        value = broadcast_to(value, pointer.shape)
    else:
        if len(value.shape) > 0:
            raise ValueError("Value argument cannot be block type if pointer argument is not a block")
    value = convert(value, pointer.dtype.element_ty)
    return pointer, value, mask


def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    order = _order(sem, scope)
    pointer, value, mask = _operands("atomic_add", pointer, val, mask)
    if value.dtype.is_floating():
        return _rmw("fadd", pointer, value, mask, order)
    return _rmw("add", pointer, value, mask, order)


def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    order = _order(sem, scope)
    pointer, value, mask = _operands("atomic_max", pointer, val, mask)
    if value.dtype.is_floating():
        return _by_bits("max", "umin", pointer, value, mask, order)
    if value.dtype.signed:
        return _rmw("max", pointer, value, mask, order)
    return _rmw("umax", pointer, value, mask, order)


def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    order = _order(sem, scope)
    pointer, value, mask = _operands("atomic_min", pointer, val, mask)
    if value.dtype.is_floating():
        return _by_bits("min", "umax", pointer, value, mask, order)
    if value.dtype.signed:
        return _rmw("min", pointer, value, mask, order)
    return _rmw("umin", pointer, value, mask, order)


def _by_bits(
    operation: str, mirrored: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]
) -> tensor:
    if value.dtype.width == 32:
        signed, unsigned = DTYPES["int32"], DTYPES["uint32"]
        highest = 31
    else:
        signed, unsigned = DTYPES["int64"], DTYPES["uint64"]
        highest = 63
    as_signed = reinterpret(value, signed)
    as_unsigned = reinterpret(value, unsigned)
    negative = (as_unsigned >> highest) != 0
    positive = negative ^ True
    first = _rmw(operation, reinterpret(pointer, pointer_type(signed)), as_signed, positive & mask, order)
    second = _rmw(mirrored, reinterpret(pointer, pointer_type(unsigned)), as_unsigned, negative & mask, order)
    bits = build("arith.select", positive, first, second, dtype=signed)
    return reinterpret(bits, value.dtype)


def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: str | None = None, scope: str | None = None) -> tensor:
    _check_is_pointer(pointer, "atomic_cas")
    order = _order(sem, scope)
    element = pointer.dtype.element_ty
    if element.width == 1 or element.width == 8:
        raise ValueError("atomic_cas does not support " + str(element))
    cmp = to_tensor(cmp)
    val = to_tensor(val)
    for operand in (cmp, val):
        if operand.shape != pointer.shape:
            raise TypeError("atomic_cas: shapes differ")
        if operand.dtype.ir_type != element.ir_type:
            raise TypeError(f"atomic_cas: the pointer is to {element}, but {operand.dtype} was given")
    handle = current().create("tt.atomic_cas", pointer.handle, cmp.handle, val.handle, **order)
    return tensor(handle, val.dtype)
