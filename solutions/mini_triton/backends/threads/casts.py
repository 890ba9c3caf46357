"""Casts of single elements, without any unnecessary instruction.

An instruction `cvt.<to>.<from>` converts a number, such as `cvt.s64.s32` or `cvt.f32.f16`; it takes no predicates.
Where the result may not be exact, the opcode has a rounding: `cvt.rn` rounds to the nearest float, `cvt.rz` to a float
toward zero, `cvt.rzi` to an integer toward zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.backends.threads.elementwise import FP8, narrow, widen
from mini_triton.backends.threads.instructions import Register, Unsupported, kind_of, width_of
from mini_triton.backends.threads.threads import PURE, Threads, rule
from mini_triton.ir.core import Operation
from mini_triton.ir.types import F16, F32, F64, Type, element_type

FP8_INSTRUCTIONS = 89
"""The first compute capability with instructions for 8-bit floats."""
INTEGER_CASTS = {"arith.extsi": "s", "arith.extui": "u", "arith.trunci": "u"}


@rule(PURE, "arith.bitcast", "tt.bitcast", "tt.int_to_ptr", "tt.ptr_to_int")
def same_bits(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """The same bits under another type."""
    return operands[0]


@rule(PURE, *INTEGER_CASTS)
def integer_to_integer(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """An integer with another width: signed (`arith.extsi`), unsigned (`arith.extui`) or truncated (`arith.trunci`).

    extsi   i8 to i16    0x5A80 in the register becomes 0xFF80        i1 to i32    true becomes -1
    extui   i8 to i16    0x5A80 in the register becomes 0x0080        i1 to i32    true becomes 1
    trunci  i32 to i1    6 becomes false, 7 becomes true
    """
    source, target, letter = operation.operands[0].type, operation.result.type, INTEGER_CASTS[operation.name]
    before, after = width_of(source), max(16, width_of(target))
    (operand,) = operands
    # [task 13.6] Return a register with the integer.
    if width_of(target) == 1:
        bits = operand.kind
        return threads.op(f"setp.ne.{bits.replace('b', 's')}", threads.op(f"and.{bits}", operand, 1), 0)
    if before == 1:
        return threads.op(f"selp.b{after}", -1 if letter == "s" else 1, 0, operand)
    return operand if before == after else threads.op(f"cvt.{letter}{after}.{letter}{before}", operand)
    # [end]


@rule(PURE, "arith.sitofp", "arith.uitofp")
def integer_to_float(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """The nearest float."""
    source, target, letter = operation.operands[0].type, operation.result.type, operation.name[6]
    operand, width = operands[0], width_of(source)
    if width == 1:
        operand, width = threads.op("selp.b32", -1 if letter == "s" else 1, 0, operand), 32
    if element_type(target) in (F64, F16):
        return threads.op(f"cvt.rn.{element_type(target)}.{letter}{width}", operand)
    return narrow(threads, target, threads.op(f"cvt.rn.f32.{letter}{width}", operand))


@rule(PURE, "arith.fptosi", "arith.fptoui")
def float_to_integer(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """Drop the fraction. Numbers that do not fit have no defined result.

    `cvt.rzi` converts 32-bit and 64-bit floats to integers of 16, 32 and 64 bits.

        fptosi  f32 to i1    -1.5 becomes true, -0.5 becomes false        fptoui  f32 to i1    1.5 becomes true
    """
    source, target, letter = operation.operands[0].type, operation.result.type, operation.name[10]
    (operand,) = operands
    # [task 13.6] Return a register with the integer.
    wide = widen(threads, source, operand)
    form = wide.kind.replace("b", "f")
    if width_of(target) == 1:
        limit = threads.constant(F64 if form == "f64" else F32, -1.0 if letter == "s" else 1.0)
        return threads.op(f"setp.{'le' if letter == 's' else 'ge'}.{form}", wide, limit)
    return threads.op(f"cvt.rzi.{letter}{max(16, width_of(target))}.{form}", wide)
    # [end]


@rule(PURE, "arith.extf", "arith.truncf", "tt.fp_to_fp")
def float_to_float(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """The nearest float of another type; with the rounding "rtz", the nearest toward zero.

    Not every GPU has a `cvt` from fp64 to bf16, and none has one from fp64 to 8 bits:

        f64 to f16     1 + 2**-11 + 2**-40 becomes 1 + 2**-10
        f64 to bf16    1 + 2**-8 + 2**-40 becomes 1                       rtz: 1 + 2**-7 - 2**-40 becomes 1
    """
    source, target = operation.operands[0].type, operation.result.type
    rounding = "rz" if operation.attributes.get("rounding") == "rtz" else "rn"
    for type in (source, target):
        check_eight_bits(threads, operation, type)
    (operand,) = operands
    # [task 13.6] Return a register with the float.
    if element_type(source) == element_type(target):
        return operand
    if element_type(source) == F64:
        if element_type(target) == F16:
            return threads.op(f"cvt.{rounding}.f16.f64", operand)
        wide = threads.op(f"cvt.{rounding}.f32.f64", operand)
    else:
        wide = widen(threads, source, operand)
    if element_type(target) == F64:
        return threads.op("cvt.f64.f32", wide)
    if width_of(target) == 8:
        return to_eight_bits(threads, operation, target, wide, rounding)
    return narrow(threads, target, wide, rounding)
    # [end]


def check_eight_bits(threads: Threads, operation: Operation, type: Type) -> None:
    """Refuse 8-bit floats for which the GPU has no instruction."""
    name = str(element_type(type))
    if width_of(type) == 8 and (name not in FP8 or threads.capability < FP8_INSTRUCTIONS):
        raise Unsupported(operation, f"of {name} for sm_{threads.capability}")


def to_eight_bits(threads: Threads, operation: Operation, target: Type, wide: Register, rounding: str) -> Register:
    """A 32-bit float as an 8-bit float. The instruction converts two; the second is a zero."""
    if rounding == "rz":
        raise Unsupported(operation, "to 8-bit floats toward zero")
    zero = threads.bits(kind_of(F32), 0)
    return threads.op(f"cvt.rn.satfinite.{FP8[str(element_type(target))]}.f32", zero, wide)
