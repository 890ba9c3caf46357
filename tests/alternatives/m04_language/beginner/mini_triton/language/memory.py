def as_bytes(pointer: tensor) -> tensor:
    if pointer.dtype.element_ty != int1:
        return pointer
    if pointer.dtype.const:
        return convert(pointer, pointer_type(int8, True))
    return convert(pointer, pointer_type(int8))


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
    if mask is None:
        if other is not None:
            raise ValueError("`other` cannot be provided without `mask`")
        address = as_bytes(pointer)
        result = build("tt.load", address, dtype=address.dtype.element_ty, isVolatile=volatile)
        return convert(result, pointer.dtype.element_ty)
    mask = checked_mask(mask, pointer)
    if other is not None:
        other = to_tensor(other)
        _check_operand("Other", other, pointer)
    wide, mask = broadcast_together(pointer, mask)
    address = as_bytes(wide)
    in_memory = address.dtype.element_ty
    if other is None:
        result = build("tt.load", address, mask, dtype=in_memory, isVolatile=volatile)
    else:
        other = broadcast_like(other, address)
        other = convert(other, in_memory)
        result = build("tt.load", address, mask, other, dtype=in_memory, isVolatile=volatile)
    if pointer.dtype.element_ty == int1:
        result = convert(result, int1)
    return result


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
    value = to_tensor(value)
    _check_operand("Value", value, pointer)
    if mask is not None:
        mask = checked_mask(mask, pointer)
        mask = broadcast_like(mask, pointer)
    value = broadcast_like(value, pointer)
    if pointer.dtype.element_ty == int1:
        value = convert(value, int8)
    else:
        value = convert(value, pointer.dtype.element_ty)
    pointer = as_bytes(pointer)
    if mask is None:
        current().operation("tt.store", pointer.handle, value.handle)
    else:
        current().operation("tt.store", pointer.handle, value.handle, mask.handle)
