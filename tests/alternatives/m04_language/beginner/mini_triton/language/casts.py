def cast(
    input: Any, dtype: dtype | pointer_type, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    x = to_tensor(input)
    if bitcast:
        return reinterpret(x, dtype)
    if x.dtype == dtype:
        return x
    if fp_downcast_rounding is None:
        return convert(x, dtype)
    if fp_downcast_rounding != "rtne" and fp_downcast_rounding != "rtz":
        raise ValueError("Invalid rounding mode: " + str(fp_downcast_rounding))
    wrong = f"fp_downcast_rounding should be set only for truncating fp conversions, this is {x.dtype} to {dtype}"
    if not _is_float(x.dtype):
        raise ValueError(wrong)
    if not _is_float(dtype):
        raise ValueError(wrong)
    if dtype.ir_type.width >= x.dtype.width:
        raise ValueError(wrong)
    if fp_downcast_rounding == "rtne":
        return convert(x, dtype)
    result = with_element(x.handle.type, dtype.ir_type)
    return build("tt.fp_to_fp", x, dtype=dtype, result=result, rounding="rtz")


def reinterpret(x: tensor, dtype: dtype | pointer_type) -> tensor:
    if isinstance(dtype, pointer_type):
        return convert(x, dtype)
    if isinstance(x.dtype, pointer_type):
        return convert(x, dtype)
    if x.dtype == dtype:
        return x
    before = x.dtype.width
    after = dtype.width
    if before != after:
        raise ValueError(f"Cannot bitcast data-type of size {before} to data-type of size {after}")
    result = with_element(x.handle.type, dtype.ir_type)
    return build("tt.bitcast", x, result=result, dtype=dtype)
