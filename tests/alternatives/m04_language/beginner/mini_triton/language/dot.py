def _check_operands(a: tensor, b: tensor) -> None:
    if len(a.shape) < 2 or len(b.shape) < 2 or len(a.shape) != len(b.shape):
        raise ValueError("input and other must have equal ranks >= 2")
    for i in range(len(a.shape) - 2):
        if a.shape[i] != b.shape[i]:
            raise ValueError("input and other must have equal batch shapes")
    k = a.shape[-1]
    if k != b.shape[-2]:
        raise ValueError("input and other must have equal reduction dimensions")
    if a.dtype.is_fp8() and b.dtype.is_fp8():
        pass
    else:
        supported = (int8, float16, bfloat16, float32, float64)
        if a.dtype not in supported or b.dtype not in supported:
            raise TypeError(f"Unsupported dtypes {a.dtype} and {b.dtype}")
        if a.dtype != b.dtype:
            raise TypeError(f"Both operands must be same dtype. Got {a.dtype} and {b.dtype}")
    if a.dtype.width == 8 and k < 32:
        raise ValueError("Input shapes should have K >= 32")
    if k < 16:
        raise ValueError("Input shapes should have K >= 16")


def _sum_dtype(a: dtype, acc: tensor | None, out_dtype: dtype | None) -> dtype:
    if out_dtype is None:
        if acc is None:
            out_dtype = float32
        else:
            out_dtype = acc.dtype
    if a == int8:
        return int32
    if out_dtype == bfloat16:
        raise ValueError("out_dtype=bfloat16 is unsupported")
    if a == bfloat16 or a == float32:
        return float32
    if a == float64:
        return float64
    return out_dtype


def dot(
    input: tensor,
    other: tensor,
    acc: tensor | None = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: dtype | None = None,
) -> tensor:
    precision = _precision(input_precision, allow_tf32)
    _check_operands(input, other)
    imprecise = _imprecise(input, other, max_num_imprecise_acc)
    dtype = _sum_dtype(input.dtype, acc, out_dtype)
    shape = list(input.shape)
    shape[-1] = other.shape[-1]
    if acc is None:
        acc = zeros(shape, dtype)
    elif list(acc.shape) != shape:
        raise ValueError("accumulator shape is incompatible")
    elif acc.dtype != dtype:
        raise TypeError(f"accumulator is {acc.dtype}, product is {dtype}")
    a = _stack(input)
    b = _stack(other)
    c = _stack(acc)
    result = build("tt.dot", a, b, c, dtype=dtype, inputPrecision=precision, maxNumImpreciseAcc=imprecise)
    if list(result.shape) != shape:
        result = reshape(result, shape)
    return result
