ROUNDINGS = {"rtne": None, "rtz": "tt.fp_to_fp"}

"""The operation for each rounding, None for the usual one."""


def cast(
    input: Any, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    x = to_tensor(input)
    if bitcast:
        return reinterpret(x, dtype)
    if x.dtype == dtype:
        return x
    if fp_downcast_rounding is not None:
        if fp_downcast_rounding not in ROUNDINGS:
            raise ValueError(f"Invalid rounding mode: {fp_downcast_rounding}, not one of {[*ROUNDINGS]}")
        narrower = _is_float(dtype) and _is_float(x.dtype) and x.dtype.width > dtype.ir_type.width
        if not narrower:
            raise ValueError(f"fp_downcast_rounding is for truncating fp conversions, not {x.dtype} to {dtype}")
    operation = ROUNDINGS.get(fp_downcast_rounding or "rtne")
    if operation is None:
        return convert(x, dtype)
    result = with_element(x.handle.type, dtype.ir_type)
    return build(operation, x, rounding=fp_downcast_rounding, result=result, dtype=dtype)


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    kinds = isinstance(x.dtype, pointer_type), isinstance(dtype, pointer_type)
    if any(kinds) or x.dtype == dtype:
        return convert(x, dtype)
    sizes = [d.ir_type.width for d in (x.dtype, dtype)]
    if len(set(sizes)) != 1:
        raise ValueError("Cannot bitcast data-type of size {} to data-type of size {}".format(*sizes))
    return build("tt.bitcast", x, result=with_element(x.handle.type, dtype.ir_type), dtype=dtype)
