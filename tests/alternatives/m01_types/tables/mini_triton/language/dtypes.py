"""The language's dtypes; what becomes of two of them is looked up."""

from __future__ import annotations

import enum
import itertools
import math
from dataclasses import dataclass

from mini_triton.ir import types as ir


class Kind(enum.IntEnum):
    """Kinds in promotion order: bool < int < float."""

    BOOL = 0
    INT = 1
    FLOAT = 2


@dataclass(frozen=True, repr=False)
class dtype:
    """A scalar of the language, such as `fp32` or `uint8`."""

    name: str
    kind: Kind
    ir_type: ir.IntegerType | ir.FloatType
    signed: bool = False  # of integers; int1 counts as the narrowest unsigned integer

    @property
    def width(self) -> int:
        """Size in bits."""
        return self.ir_type.width

    def is_ptr(self) -> bool:
        return False

    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    def is_int(self) -> bool:
        """Integers, booleans included."""
        return self.kind is not Kind.FLOAT

    def is_floating(self) -> bool:
        return self.kind is Kind.FLOAT

    def is_fp8(self) -> bool:
        return self.is_floating() and self.width == 8

    def int_range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer dtype."""
        if self.signed:
            return -(2 ** (self.width - 1)), 2 ** (self.width - 1) - 1
        return 0, 2**self.width - 1

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class pointer_type:
    """A pointer to `element_ty`; a `const` one refuses stores."""

    element_ty: dtype
    const: bool = False

    @property
    def ir_type(self) -> ir.PointerType:
        return ir.PointerType(self.element_ty.ir_type)

    def is_ptr(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"pointer<{self.element_ty}>"


int1 = dtype("int1", Kind.BOOL, ir.I1)
int8 = dtype("int8", Kind.INT, ir.I8, signed=True)
int16 = dtype("int16", Kind.INT, ir.I16, signed=True)
int32 = dtype("int32", Kind.INT, ir.I32, signed=True)
int64 = dtype("int64", Kind.INT, ir.I64, signed=True)
uint8 = dtype("uint8", Kind.INT, ir.I8)
uint16 = dtype("uint16", Kind.INT, ir.I16)
uint32 = dtype("uint32", Kind.INT, ir.I32)
uint64 = dtype("uint64", Kind.INT, ir.I64)
float8e5 = dtype("fp8e5", Kind.FLOAT, ir.F8E5M2)
float8e4nv = dtype("fp8e4nv", Kind.FLOAT, ir.F8E4M3FN)
float16 = dtype("fp16", Kind.FLOAT, ir.F16)
bfloat16 = dtype("bf16", Kind.FLOAT, ir.BF16)
float32 = dtype("fp32", Kind.FLOAT, ir.F32)
float64 = dtype("fp64", Kind.FLOAT, ir.F64)

DTYPES = {
    d.name: d
    for d in (int1, int8, int16, int32, int64, uint8, uint16, uint32, uint64)
    + (float8e5, float8e4nv, float16, bfloat16, float32, float64)
}

SMALLEST_NORMAL_FP32 = 2.0**-126
LARGEST_FP32 = (2 - 2.0**-23) * 2.0**127


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
    """The dtype in which `lhs op rhs` is computed, for two tensors.

    `div_or_mod` is true for `/`, `//` and `%`. They have no 16-bit float instructions, so fp16 and bf16 become
    fp32, and for integers they refuse to mix signedness, because the answer would depend on it.

    Raises `TypeError`, naming both, for fp8 with an integer and, if `div_or_mod`, for integers of different signedness.
    """
    if div_or_mod:
        if lhs.is_int() and rhs.is_int() and lhs.signed != rhs.signed:
            raise TypeError(f"{lhs} and {rhs} have different signedness")
        return WIDENED.get(promote(lhs, rhs), promote(lhs, rhs))
    for table in (FLOAT_LADDER, FP8_PAIRS, INTEGER_PAIRS):
        if (lhs, rhs) in table:
            return table[lhs, rhs]
    raise TypeError(f"unexpected type {lhs} and {rhs}")


def literal_dtype(value: bool | int | float) -> dtype:
    """The dtype of a Python number that has no tensor beside it.

    An int takes the first of int32, uint32, int64, uint64 that holds it. A float is fp32 if it is zero, infinite,
    NaN or within fp32's normal range, else fp64. Raises `ValueError`, naming the value, for an int that no dtype holds.
    """
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
    """The dtype in which a tensor and a Python number are computed, in either order.

    The number is *weak*: if its kind (bool < int < float) is not above the tensor's, the tensor's dtype stays.
    Otherwise the number takes part with its own dtype. Raises `ValueError` if the result is an integer dtype that
    does not hold `value`, and what `promote` raises.
    """
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


CastStep = tuple[str, dtype | pointer_type]


def cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    """The operations that take a value from `src` to `dst`, each with the dtype it results in.

    Nothing needs doing when only the signedness differs: the bits stay. A cast to `int1` compares with zero
    (`arith.cmpi` or `arith.cmpf`, "not equal"). Raises `TypeError`, naming both, when there is no such cast.
    """
    if src == dst:
        return []
    if src.is_ptr() or dst.is_ptr():
        return _pointer_cast_steps(src, dst)
    assert isinstance(src, dtype) and isinstance(dst, dtype)
    if (src, dst) not in CASTS:
        raise TypeError(f"cannot cast {src} to {dst}")
    return [(op, DTYPES[result] if result else dst) for op, result in CASTS[src, dst]]


def _pointer_cast_steps(src: dtype | pointer_type, dst: dtype | pointer_type) -> list[CastStep]:
    """Casts with a pointer on one side: to and from 64-bit integers, to another pointer, to "is it null?"."""
    if src.is_ptr() and dst.is_ptr():
        return [("tt.bitcast", dst)]
    if src.is_ptr() and dst == int1:
        return [("tt.ptr_to_int", int64), ("arith.cmpi", int1)]
    if src.is_ptr() and dst in (int64, uint64):
        return [("tt.ptr_to_int", dst)]
    if src in (int64, uint64):
        return [("tt.int_to_ptr", dst)]
    raise TypeError(f"cannot cast {src} to {dst}")
