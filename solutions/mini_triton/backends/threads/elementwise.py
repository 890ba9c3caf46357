"""Arithmetic, comparisons and select on single elements.

Tables map an operation to the start of an opcode; the width follows from the type. 8-bit integers are computed in
16-bit registers, whose upper halves are undefined.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.backends.threads.instructions import Register, Unsupported, is_float, size_of, width_of
from mini_triton.backends.threads.threads import PURE, Threads, rule
from mini_triton.ir.core import Operation
from mini_triton.ir.types import F32, F64, PointerType, Type, element_type

INTEGERS = {
    "arith.addi": "add.s",
    "arith.subi": "sub.s",
    "arith.muli": "mul.lo.s",
    "arith.divsi": "div.s",
    "arith.divui": "div.u",
    "arith.remsi": "rem.s",
    "arith.remui": "rem.u",
    "arith.andi": "and.b",
    "arith.ori": "or.b",
    "arith.xori": "xor.b",
    "arith.maxsi": "max.s",
    "arith.minsi": "min.s",
    "arith.maxui": "max.u",
    "arith.minui": "min.u",
    "arith.shli": "shl.b",
    "arith.shrsi": "shr.s",
    "arith.shrui": "shr.u",
    "math.absi": "abs.s",
}
LOW_HALF = ("arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.shli")
"""The lower bits of their results depend only on the lower bits of their operands."""
FLOATS = {
    "arith.addf": "add.f",
    "arith.subf": "sub.f",
    "arith.mulf": "mul.f",
    "arith.negf": "neg.f",
    "arith.maxnumf": "max.f",
    "arith.minnumf": "min.f",
    "math.fma": "fma.rn.f",
    "arith.divf": "div.full.f",
    "tt.precise_divf": "div.rn.f",
    "tt.precise_sqrt": "sqrt.rn.f",
    "math.sqrt": "sqrt.approx.f",
}
DOUBLES = {"arith.divf": "div.rn.f", "math.sqrt": "sqrt.rn.f"}
"""Opcodes for 64-bit floats, where they differ."""
COMPARED_FLOATS = {"one": "ne", "ord": "num", "uno": "nan"}
COMPARED_FLOATS |= {f"o{name}": name for name in ("eq", "lt", "le", "gt", "ge")}
COMPARED_FLOATS |= {f"u{name}": f"{name}u" for name in ("eq", "ne", "lt", "le", "gt", "ge")}
EXTREMES = {"arith.maximumf": "max", "arith.minimumf": "min"}
FP8 = {"f8E4M3FN": "e4m3x2", "f8E5M2": "e5m2x2"}
"""Pairs of 8-bit floats, for which the GPU has instructions."""


# --- integers


def extended(threads: Threads, type: Type, register: Register, letter: str) -> Register:
    """An 8-bit element with a defined upper half; any other element as it is."""
    return threads.op(f"cvt.{letter}16.{letter}8", register) if width_of(type) == 8 else register


@rule(PURE, *INTEGERS)
def integers(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """Integer arithmetic by one instruction, besides those that prepare its operands a and b:

        arith.addi   i32    add.s32 a, b            arith.addi    i8     add.s16 a, b
        arith.divsi  i64    div.s64 a, b            arith.divsi   i8     div.s16 a, b       a and b are `extended`
        arith.muli   i1     given: `booleans`       arith.shrui   i64    shr.u64 a, b       b goes through `as_word`

    No operand is prepared without need.
    """
    # [task 13.5] Return a register with the result. Given: `INTEGERS`, with the beginnings of opcodes; `LOW_HALF`.
    name, type, opcode = operation.name, operation.operands[0].type, INTEGERS[operation.name]
    if width_of(type) == 1:
        return booleans(threads, opcode, operands)
    if name not in LOW_HALF:
        operands = [extended(threads, type, operand, opcode[-1]) for operand in operands]
    if "sh" in name:
        operands = [operands[0], as_word(threads, type, operands[1])]
    return threads.op(f"{opcode}{max(16, width_of(type))}", *operands)
    # [end]


@rule(PURE, "tt.mulhiui")
def upper_half(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """The upper half of a product of unsigned integers."""
    width = width_of(operation.result.type)
    if width < 16:
        raise Unsupported(operation, f"of {width}-bit integers")
    return threads.op(f"mul.hi.u{width}", *operands)


def as_word(threads: Threads, type: Type, register: Register) -> Register:
    """An integer with 32 bits. A 64-bit number that does not fit becomes the largest number."""
    if width_of(type) == 64:
        return threads.op("cvt.u32.u64", threads.op("min.u64", register, 2**32 - 1))
    return register if width_of(type) == 32 else threads.op(f"cvt.s32.s{width_of(type)}", register)


def booleans(threads: Threads, opcode: str, operands: Sequence[Register]) -> Register:
    """Integer arithmetic of one bit: the lowest bit of the result for 0 and -1, because the only bit is the sign."""
    if opcode in ("and.b", "or.b", "xor.b"):
        return threads.op(opcode.replace(".b", ".pred"), *operands)
    wide = [threads.op("selp.b32", -1, 0, operand) for operand in operands]
    return threads.op("setp.ne.s32", threads.op("and.b32", threads.op(f"{opcode}32", *wide), 1), 0)


@rule(PURE, "arith.cmpi")
def compare_integers(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """Compare integers by `setp.<comparison>.<letter><bits>`, such as `setp.lt.u32`.

    The attribute `predicate` is "eq", "ne", or a letter, "s" for signed and "u" for unsigned, and one of "lt", "le",
    "gt" and "ge", as in "slt". PTX compares integers of 16, 32 and 64 bits. The only bit of a signed boolean is its
    sign, so true is less than false.
    """
    # [task 13.5] Return a register with the result.
    type, predicate = operation.operands[0].type, str(operation.attributes["predicate"])
    letter, name = (predicate[0], predicate[1:]) if len(predicate) == 3 else ("s", predicate)
    if width_of(type) == 1:
        operands = [threads.op("selp.b32", -1, 0, operand) for operand in operands]
        return threads.op(f"setp.{name}.{letter}32", *operands)
    operands = [extended(threads, type, operand, letter) for operand in operands]
    return threads.op(f"setp.{name}.{letter}{max(16, width_of(type))}", *operands)
    # [end]


@rule(PURE, "arith.select")
def select(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """One of two elements."""
    return choose(threads, *operands)


def choose(threads: Threads, condition: Register, first: Register, second: Register) -> Register:
    """A register with `first` if the condition holds, otherwise with `second`.

    `selp`, as in `selp.b32 r, first, second, condition`, selects from registers of every kind but "pred".
    """
    # [task 13.4] Return a register with the element.
    if first.kind != "pred":
        return threads.op(f"selp.{first.kind}", first, second, condition)
    other = threads.op("and.pred", threads.op("not.pred", condition), second)
    return threads.op("or.pred", threads.op("and.pred", condition, first), other)
    # [end]


@rule(PURE, "tt.addptr")
def add_to_pointer(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """A pointer, moved by a signed number of elements, which has 8 to 64 bits.

    With 32 or 64 bits, this is one instruction, with fewer bits two. `mad.wide.s32 a, b, c` takes a and b of 32 bits, c
    of 64 bits, and returns 64 bits; all four of `mad.lo.s64` have 64 bits.
    """
    pointer, offset = operation.operands
    element = element_type(pointer.type)
    assert isinstance(element, PointerType)
    # [task 13.5] Return a register with the address.
    size = size_of(element.pointee)
    if width_of(offset.type) == 64:
        return threads.op("mad.lo.s64", operands[1], size, operands[0])
    return threads.op("mad.wide.s32", as_word(threads, offset.type, operands[1]), size, operands[0])
    # [end]


# --- floats


def widen(threads: Threads, type: Type, register: Register) -> Register:
    """A float as a 32-bit float, for example by `cvt.f32.bf16`; a 64-bit float as it is."""
    # [task 13.6] Return a register with the float.
    if width_of(type) == 16:
        return threads.op(f"cvt.f32.{element_type(type)}", register)
    if width_of(type) == 8:
        return from_eight_bits(threads, type, register)
    return register
    # [end]


def from_eight_bits(threads: Threads, type: Type, register: Register) -> Register:
    """An 8-bit float as a 32-bit float. The instruction converts two."""
    pair = threads.op(f"cvt.rn.f16x2.{FP8[str(element_type(type))]}", register)
    return threads.op("cvt.f32.f16", threads.op("cvt.u16.u32", pair))


def narrow(threads: Threads, type: Type, register: Register, rounding: str = "rn") -> Register:
    """A 32-bit float, rounded to a type; a 64-bit float as it is."""
    element = element_type(type)
    if element in (F32, F64):
        return register
    return threads.op(f"cvt.{rounding}.{element}.f32", register)


@rule(PURE, *FLOATS)
def floats(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """Float arithmetic by one instruction, whose opcode begins as in `FLOATS`, or for 64 bits as in `DOUBLES`.

    The result is the nearest to the exact one, unless the instruction is `div.full` or `sqrt.approx`. Since sm_80,
    GPUs have `fma.rn.f16` and `fma.rn.bf16`, but sm_80 has no `add`, `mul` or `div` of bf16.
    """
    # [task 13.6] Return a register with the result.
    type, opcode = operation.result.type, FLOATS[operation.name]
    if width_of(type) == 64:
        return threads.op(DOUBLES.get(operation.name, opcode) + "64", *operands)
    if operation.name == "math.fma" and width_of(type) == 16:
        return threads.op(f"fma.rn.{element_type(type)}", *operands)
    wide = [widen(threads, type, operand) for operand in operands]
    return narrow(threads, type, threads.op(opcode + "32", *wide))
    # [end]


@rule(PURE, "math.absf")
def magnitude(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """A float without its sign, of any width."""
    (operand,) = operands
    return threads.op(f"and.{operand.kind}", operand, (1 << width_of(operation.result.type) - 1) - 1)


@rule(PURE, *EXTREMES)
def extreme(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """The larger or the smaller of two floats, as `EXTREMES` says; NaN if one of them is NaN.

    `max.f32` and `max.f64` return the other number if one is NaN. `max.NaN.f32` returns NaN; there is no `max.NaN.f64`.
    """
    # [task 13.6] Return a register with the result.
    name, type = EXTREMES[operation.name], operation.result.type
    if width_of(type) < 64:
        wide = [widen(threads, type, operand) for operand in operands]
        return narrow(threads, type, threads.op(f"{name}.NaN.f32", *wide))
    found = threads.op(f"{name}.f64", *operands)
    return choose(threads, threads.op("setp.nan.f64", *operands), threads.op("add.f64", *operands), found)
    # [end]


@rule(PURE, "tt.clampf")
def clamp(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """A float, limited to a range."""
    type = operation.result.type
    wide = [widen(threads, type, operand) for operand in operands]
    form = f"f{max(32, width_of(type))}"
    limited = threads.op(f"min.{form}", threads.op(f"max.{form}", wide[0], wide[1]), wide[2])
    if str(operation.attributes["propagateNan"]) == "all":
        limited = choose(threads, threads.op(f"setp.nan.{form}", wide[0], wide[0]), wide[0], limited)
    return narrow(threads, type, limited)


@rule(PURE, "arith.cmpf")
def compare_floats(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """Compare floats."""
    type, predicate = operation.operands[0].type, str(operation.attributes["predicate"])
    if predicate in ("true", "false"):
        return threads.bits("pred", int(predicate == "true"))
    wide = [widen(threads, type, operand) for operand in operands]
    return threads.op(f"setp.{COMPARED_FLOATS[predicate]}.f{max(32, width_of(type))}", *wide)


@rule(PURE, "arith.remf")
def remainder(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """The remainder of a division that rounds to zero. It is exact for quotients up to 2^24."""
    type = operation.result.type
    if not is_float(type) or width_of(type) == 64:
        raise Unsupported(operation, "of 64-bit floats")
    x, y = (widen(threads, type, operand) for operand in operands)
    quotient = threads.op("cvt.rzi.f32.f32", threads.op("div.rn.f32", x, y))
    rest = threads.op("fma.rn.f32", threads.op("neg.f32", quotient), y, x)
    rest = choose(threads, threads.op("testp.infinite.f32", y), x, rest)
    return narrow(threads, type, threads.op("copysign.f32", x, rest))
