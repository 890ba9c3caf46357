"""The language's dtypes; what becomes of two of them is looked up."""

import itertools

EIGHT_BIT_FLOATS = (float8e5, float8e4nv)

INTEGERS = [d for d in DTYPES.values() if d.is_int()]

WIDENED = {float16: float32, bfloat16: float32}

LITERAL_RANGES = (
    (int32, range(-(2**31), 2**31)),
    (uint32, range(2**32)),
    (int64, range(-(2**63), 2**63)),
    (uint64, range(2**64)),
)

# Later entries overwrite earlier ones, so the strongest type comes last.
FLOAT_LADDER: dict[tuple[dtype, dtype], dtype] = {}

for strongest in (bfloat16, float16, float32, float64):
    for partner in DTYPES.values():
        met = float32 if strongest == bfloat16 and partner != bfloat16 else strongest
        FLOAT_LADDER[strongest, partner] = FLOAT_LADDER[partner, strongest] = met

FP8_PAIRS = {(a, b): a if a == b else float16 for a, b in itertools.product(EIGHT_BIT_FLOATS, repeat=2)}

# Of equal width the unsigned one is stronger: it comes later in this order.
STRENGTH = sorted(INTEGERS, key=lambda d: (d.width, not d.signed))

INTEGER_PAIRS = {(a, b): max(a, b, key=STRENGTH.index) for a, b in itertools.product(INTEGERS, repeat=2)}


def _casts() -> dict[tuple[dtype, dtype], list[tuple[str, str]]]:
    """Every cast as its ops, each with the name of the dtype it results in, or "" for the target."""
    casts: dict[tuple[dtype, dtype], list[tuple[str, str]]] = {}
    wide = [d for d in DTYPES.values() if d.is_floating() and d.width > 8]
    for a, b in itertools.product([*wide, *EIGHT_BIT_FLOATS], repeat=2):
        smaller = a.width > b.width
        casts[a, b] = [("tt.fp_to_fp" if 8 in (a.width, b.width) else "arith.truncf" if smaller else "arith.extf", "")]
    for a, b in itertools.product(wide, INTEGERS):
        casts[a, b] = [("arith.cmpf" if b == int1 else "arith.fptosi" if b.signed else "arith.fptoui", "")]
        casts[b, a] = [("arith.sitofp" if b.signed else "arith.uitofp", "")]
    for a, b in itertools.product(INTEGERS, repeat=2):
        extension = "arith.extsi" if a.signed else "arith.extui"
        op = "" if a.width == b.width else "arith.trunci" if a.width > b.width else extension
        casts[a, b] = [("arith.cmpi", "")] if b == int1 else [(op, "")] if op else []
    for a, b in list(casts):
        if a in (float16, bfloat16) and b != float32 and b not in EIGHT_BIT_FLOATS:
            casts[a, b] = [("arith.extf", "fp32"), *casts[float32, b]]
    return casts


CASTS = _casts()


def promote(lhs: dtype, rhs: dtype, div_or_mod: bool = False) -> dtype:
    if div_or_mod:
        if lhs.is_int() and rhs.is_int() and lhs.signed != rhs.signed:
            raise TypeError(f"{lhs} and {rhs} have different signedness")
        return WIDENED.get(promote(lhs, rhs), promote(lhs, rhs))
    for table in (FLOAT_LADDER, FP8_PAIRS, INTEGER_PAIRS):
        if (lhs, rhs) in table:
            return table[lhs, rhs]
    raise TypeError(f"unexpected type {lhs} and {rhs}")


def literal_dtype(value: bool | int | float) -> dtype:
    if type(value) is bool:
        return int1
    if isinstance(value, float):
        is_common = math.isnan(value) or abs(value) in (0.0, math.inf)
        return float32 if is_common or -125 <= math.frexp(value)[1] <= 128 and abs(value) <= LARGEST_FP32 else float64
    try:
        return next(result for result, values in LITERAL_RANGES if value in values)
    except StopIteration:
        raise ValueError(f"Nonrepresentable integer {value}") from None


def promote_literal(tensor: dtype, value: bool | int | float, div_or_mod: bool = False) -> dtype:
    literal = literal_dtype(value)
    if literal.kind > tensor.kind:
        result = promote(tensor, literal, div_or_mod)
    else:
        result = WIDENED.get(tensor, tensor) if div_or_mod else tensor
    if result.is_int() and value not in range(result.int_range()[0], result.int_range()[1] + 1):
        if value < 0 and not result.signed:
            raise ValueError("Cannot perform a binary operation between an unsigned tensor and a negative scalar")
        raise ValueError(f"Scalar {value} is out of range for type {result}")
    return result


def cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    if src == dst:
        return []
    if src.is_ptr() or dst.is_ptr():
        return _pointer_cast_steps(src, dst)
    assert isinstance(src, dtype) and isinstance(dst, dtype)
    if (src, dst) not in CASTS:
        raise TypeError(f"cannot cast {src} to {dst}")
    return [(op, DTYPES[result] if result else dst) for op, result in CASTS[src, dst]]
