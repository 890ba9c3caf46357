def _operands(name: str, pointer: Any, value: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
    _check_pointer(pointer, name)
    content = to_tensor(value)
    if len(content.shape) > len(pointer.shape) == 0:
        raise ValueError("Value argument cannot be block type if pointer argument is not a block")
    where = full(pointer.shape, True, int1) if mask is None else checked_mask(mask, pointer)
    content = convert(content, pointer.dtype.element_ty)
    fitted = (broadcast_to(x, pointer.shape) for x in (content, where))
    return (pointer, *fitted)


def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    operands = _operands("atomic_max", pointer, val, mask)
    dtype, order = operands[1].dtype, _order(sem, scope)
    if dtype.is_floating():
        return _by_bits("max", "umin", *operands, order)
    return _rmw(choose(dtype, "", "max", "umax"), *operands, order)


def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    operands = _operands("atomic_min", pointer, val, mask)
    dtype, order = operands[1].dtype, _order(sem, scope)
    if dtype.is_floating():
        return _by_bits("min", "umax", *operands, order)
    return _rmw(choose(dtype, "", "min", "umin"), *operands, order)


def _by_bits(
    operation: str, mirrored: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]
) -> tensor:
    bits = DTYPES[f"int{value.dtype.width}"]
    content, where = reinterpret(value, bits), reinterpret(pointer, pointer_type(bits))
    sign = content < 0
    parts = ((mirrored, sign), (operation, content >= 0))
    minus, plus = (_rmw(name, where, content, mask & part, order) for name, part in parts)
    return reinterpret(build("arith.select", sign, minus, plus, dtype=bits), value.dtype)
