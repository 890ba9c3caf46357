CHECKS = (
    ("equal ranks >= 2", lambda a, b: len(a.shape) == len(b.shape) >= 2),
    ("equal batch shapes", lambda a, b: a.shape[:-2] == b.shape[:-2]),
    ("equal reduction dimensions", lambda a, b: a.shape[-1] == b.shape[-2]),
)


def _check_operands(a: tensor, b: tensor) -> None:
    for words, holds in CHECKS:
        if not holds(a, b):
            raise ValueError(f"input and other must have {words}: {a!r} and {b!r}")
    formats = [{d} for d in (*SUMMED_IN, float16)]
    if not (a.dtype.is_fp8() and b.dtype.is_fp8()) and {a.dtype, b.dtype} not in formats:
        raise TypeError(f"Both operands must be same dtype, a supported one. Got {a.dtype} and {b.dtype}")
    least = {8: 32}.get(a.dtype.width, 16)
    if a.shape[-1] < least:
        raise ValueError(f"K >= {least}")


def _sum_dtype(a: dtype, acc: tensor | None, out_dtype: dtype | None) -> dtype:
    choices = [out_dtype, acc and acc.dtype if acc is None else acc.dtype, float32]
    chosen = next(choice for choice in choices if choice is not None)
    if a.is_floating() and chosen == bfloat16:
        raise ValueError("out_dtype=bfloat16 is unsupported")
    return {**SUMMED_IN, **{d: SUMMED_IN.get(d, chosen) for d in (a,)}}[a]


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
    dtype = _sum_dtype(input.dtype, acc, out_dtype)
    shape = input.shape[:-1] + other.shape[-1:]
    acc = zeros(shape, dtype) if acc is None else acc
    for what, error, wanted, got in (
        ("accumulator shape", ValueError, shape, acc.shape),
        ("accumulator dtype", TypeError, dtype, acc.dtype),
    ):
        if got != wanted:
            raise error(f"{what} is {got}, not {wanted}")
    options = {"inputPrecision": precision, "maxNumImpreciseAcc": _imprecise(input, other, max_num_imprecise_acc)}
    product = build("tt.dot", _stack(input), _stack(other), _stack(acc), dtype=dtype, **options)
    return reshape(product, shape) if len(shape) > 3 else product
