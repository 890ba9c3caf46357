"""The language's dtypes, by pattern matching and single dispatch."""

from __future__ import annotations

import enum
import functools
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


def precedence(operand: dtype) -> tuple[int, ...]:
    """Sorts the dtype that prevails to the front."""
    floats = (float64, float32, float16, bfloat16)
    rung = floats.index(operand) if operand in floats else 4 + operand.is_int()
    return rung, -operand.width, operand.signed


@functools.singledispatch
def dtype_of(value: float) -> dtype:
    """The dtype of a number by its Python type."""
    magnitude = abs(value)
    normal = SMALLEST_NORMAL_FP32 <= magnitude <= LARGEST_FP32
    return float32 if normal or magnitude in (0.0, math.inf) or math.isnan(value) else float64


@dtype_of.register
def _(value: bool) -> dtype:
    return int1


@dtype_of.register
def _(value: int) -> dtype:
    holders = [d for d in (int32, uint32, int64, uint64) if d.int_range()[0] <= value <= d.int_range()[1]]
    if holders:
        return holders[0]
    raise ValueError(f"no integer dtype holds {value}")


def check_range(result: dtype, value: bool | int | float) -> None:
    """Refuse an integer that its dtype does not hold."""
    match result.int_range():
        case (0, _) if value < 0:
            raise ValueError("Cannot perform a binary operation between an unsigned tensor and a negative scalar")
        case (low, high) if not low <= value <= high:
            raise ValueError(f"Scalar {value} is out of range for type {result}")


def promote(lhs: dtype, rhs: dtype, div_or_mod: bool = False) -> dtype:
    """The dtype in which `lhs op rhs` is computed, for two tensors.

    `div_or_mod` is true for `/`, `//` and `%`. They have no 16-bit float instructions, so fp16 and bf16 become
    fp32, and for integers they refuse to mix signedness, because the answer would depend on it.

    Raises `TypeError`, naming both, for fp8 with an integer and, if `div_or_mod`, for integers of different signedness.
    """
    match sorted((lhs, rhs), key=precedence):
        case [dtype(name="fp64" | "fp32") as strongest, _]:
            return strongest
        case [dtype(name="fp16" | "bf16"), _] if div_or_mod:
            return float32
        case [dtype(name="fp16"), _]:
            return float16
        case [dtype(name="bf16") as first, second]:
            return first if first == second else float32
        case [dtype(kind=Kind.FLOAT) as first, dtype(kind=Kind.FLOAT) as second]:
            return first if first == second else float16
        case [dtype(kind=Kind.FLOAT), _]:
            raise TypeError(f"unexpected type {lhs} and {rhs}")
        case [first, second] if div_or_mod and first.signed is not second.signed:
            raise TypeError(f"{lhs} and {rhs} have different signedness")
        case [first, _]:
            return first


def literal_dtype(value: bool | int | float) -> dtype:
    """The dtype of a Python number that has no tensor beside it.

    An int takes the first of int32, uint32, int64, uint64 that holds it. A float is fp32 if it is zero, infinite,
    NaN or within fp32's normal range, else fp64. Raises `ValueError`, naming the value, for an int that no dtype holds.
    """
    return dtype_of(value)


def promote_literal(tensor: dtype, value: bool | int | float, div_or_mod: bool = False) -> dtype:
    """The dtype in which a tensor and a Python number are computed, in either order.

    The number is *weak*: if its kind (bool < int < float) is not above the tensor's, the tensor's dtype stays.
    Otherwise the number takes part with its own dtype. Raises `ValueError` if the result is an integer dtype that
    does not hold `value`, and what `promote` raises.
    """
    match literal_dtype(value):
        case dtype(kind=kind) as literal if kind > tensor.kind:
            result = promote(tensor, literal, div_or_mod)
        case _:
            result = promote(tensor, tensor, div_or_mod)
    if result.is_int():
        check_range(result, value)
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
    match src, dst:
        case (dtype(kind=Kind.FLOAT), dtype(kind=Kind.FLOAT)) if 8 in (src.width, dst.width):
            return [("tt.fp_to_fp", dst)]
        case _ if src.is_fp8() or dst.is_fp8():
            raise TypeError(f"no cast from {src} to {dst}")
        case (dtype(name="fp16" | "bf16"), dtype(name="fp32")):
            return [("arith.extf", dst)]
        case (dtype(name="fp16" | "bf16"), _):
            return cast_steps(src, float32) + cast_steps(float32, dst)
        case (_, dtype(kind=Kind.BOOL)):
            op = "cmpf" if src.is_floating() else "cmpi"
        case (dtype(kind=Kind.FLOAT), dtype(kind=Kind.FLOAT)):
            op = "truncf" if src.width > dst.width else "extf"
        case (dtype(kind=Kind.FLOAT), dtype(signed=signed)):
            op = "fptosi" if signed else "fptoui"
        case (dtype(signed=signed), dtype(kind=Kind.FLOAT)):
            op = "sitofp" if signed else "uitofp"
        case _ if src.ir_type == dst.ir_type:
            return []
        case (dtype(signed=signed), _) if src.width < dst.width:
            op = "extsi" if signed else "extui"
        case _:
            op = "trunci"
    return [(f"arith.{op}", dst)]


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
