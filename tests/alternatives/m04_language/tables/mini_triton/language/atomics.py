FAMILIES = {"atomic_max": ("max", "umax", ("max", "umin")), "atomic_min": ("min", "umin", ("min", "umax"))}

"""For signed integers, for unsigned ones, and the pair for floats."""


def _extreme(name: str, pointer: Any, val: Any, mask: Any, order: dict[str, str]) -> tensor:
    """One of `FAMILIES`."""
    pointer, value, mask = _operands(name, pointer, val, mask)
    signed, unsigned, pair = FAMILIES[name]
    if value.dtype.is_floating():
        return _by_bits(*pair, pointer, value, mask, order)
    return _rmw(signed if value.dtype.signed else unsigned, pointer, value, mask, order)


def _operands(name: str, pointer: Any, value: Any, mask: Any) -> tuple[tensor, tensor, tensor]:
    _check_pointer(pointer, name)
    mask = full((), True, int1) if mask is None else checked_mask(mask, pointer)
    operands = {"Value": to_tensor(value), "Mask": mask}
    for what, operand in operands.items():
        if operand.shape and not pointer.shape:
            raise ValueError(f"{what} argument cannot be block type if pointer argument is not a block")
        operands[what] = broadcast_to(operand, pointer.shape) if pointer.shape else operand
    return pointer, convert(operands["Value"], pointer.dtype.element_ty), operands["Mask"]


def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    pointer, value, mask = _operands("atomic_add", pointer, val, mask)
    return _rmw({True: "fadd", False: "add"}[value.dtype.is_floating()], pointer, value, mask, _order(sem, scope))


def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    return _extreme("atomic_max", pointer, val, mask, _order(sem, scope))


def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> tensor:
    return _extreme("atomic_min", pointer, val, mask, _order(sem, scope))


def _by_bits(
    operation: str, mirrored: str, pointer: tensor, value: tensor, mask: tensor, order: dict[str, str]
) -> tensor:
    signed, unsigned = {32: ("int32", "uint32"), 64: ("int64", "uint64")}[value.dtype.width]
    sign = reinterpret(value, DTYPES[unsigned]) >> (value.dtype.width - 1)
    negative = convert(sign, int1)
    old = []
    for name, part, kind in ((operation, ~negative, DTYPES[signed]), (mirrored, negative, DTYPES[unsigned])):
        place = reinterpret(pointer, pointer_type(kind))
        old.append(_rmw(name, place, reinterpret(value, kind), mask & part, order))
    return reinterpret(build("arith.select", ~negative, *old, dtype=DTYPES[signed]), value.dtype)


def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: str | None = None, scope: str | None = None) -> tensor:
    _check_is_pointer(pointer, "atomic_cas")
    element = pointer.dtype.element_ty
    if element.width not in {16, 32, 64}:
        raise ValueError(f"atomic_cas only supports elements with width 16, 32, 64, not {element}")
    wanted = with_element(pointer.handle.type, element.ir_type)
    operands = [to_tensor(x) for x in (cmp, val)]
    for operand in operands:
        if operand.handle.type != wanted:
            raise TypeError(f"atomic_cas: {operand!r} is no {element} in the shape {list(pointer.shape)}")
    return build("tt.atomic_cas", pointer, *operands, **_order(sem, scope), dtype=operands[1].dtype)
