def as_bytes(pointer: tensor) -> tensor:
    in_memory = {int1: int8}
    element = pointer.dtype.element_ty
    return convert(pointer, pointer_type(in_memory.get(element, element), pointer.dtype.const))


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> tensor:
    _check_hints(cache_modifier, LOAD_CACHES, eviction_policy)
    if isinstance(pointer, block_pointer):
        return _load_block(pointer, mask, other, boundary_check, padding_option)
    _check_pointer(pointer, "load", boundary_check, padding_option)
    if mask is None and other is not None:
        raise ValueError("`other` cannot be provided without `mask`")
    dtype = pointer.dtype.element_ty
    operands: dict[str, tensor] = {"pointer": pointer}
    if mask is not None:
        names = ("pointer", "mask")
        operands |= dict(zip(names, broadcast_together(pointer, checked_mask(mask, pointer)), strict=True))
    operands["pointer"] = as_bytes(operands["pointer"])
    if other is not None:
        operands["other"] = to_tensor(other)
        _check_operand("Other", operands["other"], pointer)
        converted = convert(operands["other"], operands["pointer"].dtype.element_ty)
        operands["other"] = broadcast_like(converted, operands["pointer"])
    element = operands["pointer"].dtype.element_ty
    options = {"isVolatile": True} if volatile else {}
    return convert(build("tt.load", *operands.values(), dtype=element, **options), dtype)


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    _check_hints(cache_modifier, STORE_CACHES, eviction_policy)
    if isinstance(pointer, block_pointer):
        return _store_block(pointer, value, mask, boundary_check)
    _check_pointer(pointer, "store", boundary_check)
    if pointer.dtype.const:
        raise ValueError("Cannot store to a constant pointer")
    given = {"Value": value} if mask is None else {"Value": value, "Mask": mask}
    operands = [as_bytes(pointer)]
    for what, operand in given.items():
        operand = to_tensor(operand) if what == "Value" else checked_mask(operand, pointer)
        _check_operand(what, operand, pointer)
        dtype = operands[0].dtype.element_ty if what == "Value" else int1
        operands.append(convert(broadcast_like(operand, pointer), dtype))
    current().operation("tt.store", *(operand.handle for operand in operands))
