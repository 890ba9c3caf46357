"""The language's dtypes, with one `if` for every case."""

from __future__ import annotations

import enum
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


def promote(lhs: dtype, rhs: dtype, div_or_mod: bool = False) -> dtype:
    """The dtype in which `lhs op rhs` is computed, for two tensors.

    `div_or_mod` is true for `/`, `//` and `%`. They have no 16-bit float instructions, so fp16 and bf16 become
    fp32, and for integers they refuse to mix signedness, because the answer would depend on it.

    Raises `TypeError`, naming both, for fp8 with an integer and, if `div_or_mod`, for integers of different signedness.
    """
    if lhs == float64 or rhs == float64:
        return float64
    if lhs == float32 or rhs == float32:
        return float32
    if lhs == float16 or rhs == float16:
        if div_or_mod:
            return float32
        else:
            return float16
    if lhs == bfloat16 and rhs == bfloat16:
        if div_or_mod:
            return float32
        else:
            return bfloat16
    if lhs == bfloat16 or rhs == bfloat16:
        return float32
    lhs_is_fp8 = lhs == float8e5 or lhs == float8e4nv
    rhs_is_fp8 = rhs == float8e5 or rhs == float8e4nv
    if lhs_is_fp8 and rhs_is_fp8:
        if lhs == rhs:
            return lhs
        else:
            return float16
    if lhs_is_fp8 or rhs_is_fp8:
        raise TypeError("unexpected type " + lhs.name + " and " + rhs.name)
    if div_or_mod and lhs.signed != rhs.signed:
        raise TypeError(lhs.name + " and " + rhs.name + " have different signedness")
    if lhs.signed == rhs.signed:
        if lhs.width > rhs.width:
            return lhs
        else:
            return rhs
    if lhs.signed:
        if rhs.width >= lhs.width:
            return rhs
        else:
            return lhs
    else:
        if lhs.width >= rhs.width:
            return lhs
        else:
            return rhs


def literal_dtype(value: bool | int | float) -> dtype:
    """The dtype of a Python number that has no tensor beside it.

    An int takes the first of int32, uint32, int64, uint64 that holds it. A float is fp32 if it is zero, infinite,
    NaN or within fp32's normal range, else fp64. Raises `ValueError`, naming the value, for an int that no dtype holds.
    """
    if value is True or value is False:
        return int1
    if type(value) is int:
        if value >= -(2**31) and value < 2**31:
            return int32
        elif value >= 0 and value < 2**32:
            return uint32
        elif value >= -(2**63) and value < 2**63:
            return int64
        elif value >= 0 and value < 2**64:
            return uint64
        else:
            raise ValueError("no dtype holds " + str(value))
    if value != value:
        return float32
    if value == 0.0:
        return float32
    if value == float("inf") or value == float("-inf"):
        return float32
    if value < 0:
        value = -value
    if value < SMALLEST_NORMAL_FP32:
        return float64
    if value > LARGEST_FP32:
        return float64
    return float32


def promote_literal(tensor: dtype, value: bool | int | float, div_or_mod: bool = False) -> dtype:
    """The dtype in which a tensor and a Python number are computed, in either order.

    The number is *weak*: if its kind (bool < int < float) is not above the tensor's, the tensor's dtype stays.
    Otherwise the number takes part with its own dtype. Raises `ValueError` if the result is an integer dtype that
    does not hold `value`, and what `promote` raises.
    """
    own = literal_dtype(value)
    if own.kind <= tensor.kind:
        result = tensor
        if div_or_mod:
            if result == float16 or result == bfloat16:
                result = float32
    else:
        result = promote(tensor, own, div_or_mod)
    if result.is_floating():
        return result
    smallest, largest = result.int_range()
    if value < 0:
        if smallest == 0:
            raise ValueError("Cannot perform a binary operation between an unsigned tensor and a negative scalar")
    if value < smallest or value > largest:
        raise ValueError("Scalar " + str(value) + " is out of range for type " + result.name)
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
    steps: list[CastStep] = []
    src_is_fp8 = src == float8e5 or src == float8e4nv
    dst_is_fp8 = dst == float8e5 or dst == float8e4nv
    if src_is_fp8 or dst_is_fp8:
        if not src.is_floating() or not dst.is_floating():
            raise TypeError("cannot cast " + src.name + " to " + dst.name)
        steps.append(("tt.fp_to_fp", dst))
        return steps
    if src == float16 or src == bfloat16:
        steps.append(("arith.extf", float32))
        src = float32
        if dst == float32:
            return steps
    if dst == int1:
        if src.is_floating():
            steps.append(("arith.cmpf", dst))
        else:
            steps.append(("arith.cmpi", dst))
    elif src.is_floating():
        if dst.is_floating():
            if dst.width > src.width:
                steps.append(("arith.extf", dst))
            else:
                steps.append(("arith.truncf", dst))
        else:
            if dst.signed:
                steps.append(("arith.fptosi", dst))
            else:
                steps.append(("arith.fptoui", dst))
    else:
        if dst.is_floating():
            if src.signed:
                steps.append(("arith.sitofp", dst))
            else:
                steps.append(("arith.uitofp", dst))
        elif dst.width < src.width:
            steps.append(("arith.trunci", dst))
        elif dst.width > src.width:
            if src.signed:
                steps.append(("arith.extsi", dst))
            else:
                steps.append(("arith.extui", dst))
    return steps


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
