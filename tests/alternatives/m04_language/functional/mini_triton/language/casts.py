def cast(
    input: Any, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    x = to_tensor(input)
    if bitcast:
        return reinterpret(x, dtype)
    if None in (fp_downcast_rounding,) or x.dtype == dtype:
        return convert(x, dtype)
    narrowing = all(map(_is_float, (x.dtype, dtype))) and x.dtype.width > dtype.ir_type.width
    if fp_downcast_rounding not in {"rtne", "rtz"}:
        raise ValueError(f"Invalid rounding mode: {fp_downcast_rounding}")
    if not narrowing:
        raise ValueError(f"fp_downcast_rounding should be set only for truncating fp conversions: {x.dtype}, {dtype}")
    toward_zero = {"rounding": "rtz", "result": with_element(x.handle.type, dtype.ir_type), "dtype": dtype}
    return convert(x, dtype) if fp_downcast_rounding == "rtne" else build("tt.fp_to_fp", x, **toward_zero)


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    if x.dtype == dtype or any(d.is_ptr() for d in (x.dtype, dtype)):
        return convert(x, dtype)
    old, new = (d.ir_type.width for d in (x.dtype, dtype))
    if old - new:
        raise ValueError(f"Cannot bitcast data-type of size {old} to data-type of size {new}")
    return build("tt.bitcast", x, dtype=dtype, result=with_element(x.handle.type, dtype.ir_type))
