def _check_operands(a: tensor, b: tensor) -> None:
    (*stack, _, k), (*other_stack, other_k, _) = ((1, 1, *x.shape)[-max(2, len(x.shape)) :] for x in (a, b))
    if min(len(a.shape), len(b.shape)) < 2 or len(stack) != len(other_stack):
        raise ValueError(f"input and other must have equal ranks >= 2: {a}, {b}")
    if stack != other_stack:
        raise ValueError(f"input and other must have equal batch shapes: {a}, {b}")
    if k != other_k:
        raise ValueError(f"input and other must have equal reduction dimensions: {a}, {b}")
    dtypes = {a.dtype, b.dtype}
    if not all(d.is_fp8() for d in dtypes) and not (len(dtypes) == 1 and dtypes <= {float16, *SUMMED_IN}):
        raise TypeError(f"Both operands must be same dtype. Got {a.dtype} and {b.dtype}")
    if k < 16 * (1 + (a.dtype.width == 8)):
        raise ValueError(f"K >= {16 * (1 + (a.dtype.width == 8))}")


def _sum_dtype(a: dtype, acc: tensor | None, out_dtype: dtype | None) -> dtype:
    asked = out_dtype or getattr(acc, "dtype", None) or float32
    if (asked, a.is_floating()) == (bfloat16, True):
        raise ValueError("out_dtype=bfloat16 is unsupported")
    return SUMMED_IN[a] if a in SUMMED_IN else asked


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
    dtype, shape = _sum_dtype(input.dtype, acc, out_dtype), (*input.shape[:-1], *other.shape[-1:])
    c = zeros(shape, dtype) if acc is None else acc
    if c.shape != shape:
        raise ValueError(f"accumulator shape is incompatible: {c}")
    if c.dtype != dtype:
        raise TypeError(f"{c} is no {dtype}")
    how = {"inputPrecision": precision, "maxNumImpreciseAcc": _imprecise(input, other, max_num_imprecise_acc)}
    product = build("tt.dot", *map(_stack, (input, other, c)), dtype=dtype, **how)
    return product if len(shape) < 4 else reshape(product, *shape)
