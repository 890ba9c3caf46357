def as_bytes(pointer: tensor) -> tensor:
    boolean = pointer.dtype.element_ty == int1
    return convert(pointer, pointer_type(int8, pointer.dtype.const)) if boolean else pointer


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
    if (mask is None) > (other is None):
        raise ValueError("`other` cannot be provided without `mask`")
    where, *masks = [pointer] if mask is None else broadcast_together(pointer, checked_mask(mask, pointer))
    source = as_bytes(where)
    others = [to_tensor(x) for x in (other,) if x is not None]
    for x in others:
        _check_operand("Other", x, pointer)
    others = [broadcast_like(convert(x, source.dtype.element_ty), where) for x in others]
    read = build("tt.load", source, *masks, *others, dtype=source.dtype.element_ty, isVolatile=bool(volatile))
    return convert(read, pointer.dtype.element_ty)
