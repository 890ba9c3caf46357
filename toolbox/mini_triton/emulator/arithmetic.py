"""Instructions that compute each lane's result from the lane's own operands: one row of `ROWS` for each opcode.

A row names the types of the operands, and a function of their values. To add an instruction, add a row, and a form to
`tests/support/emulator/forms.py`, which a GPU records:

    "neg": Row("t", np.negative),

Types are relative to the instruction's last type `t`: `b` are the same bits as unsigned numbers, `w` is twice as wide
if the instruction has `.wide`, `p` is a predicate, `u` is u32, and `f` is the first of several types. The result has
type `t`, unless a row says otherwise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.emulator.machine import Machine, Mask, Step, instruction
from mini_triton.emulator.parser import Instruction, PtxError
from mini_triton.emulator.types import Array, Type, flush, join, not_negative, round_to, split, type_of, unsigned

Meaning = Callable[..., Array]


@dataclass(frozen=True)
class Row:
    """What an instruction computes."""

    operands: str  # the type of each operand, as a letter
    meaning: Meaning | None = None  # a function of the operands' values
    result: str = "t"
    form: Callable[[Instruction], Meaning] | None = None  # instead of a meaning: the meaning with certain modifiers

    def meaning_of(self, i: Instruction) -> Meaning:
        """The function that an instruction computes, with its modifiers."""
        meaning = self.form(i) if self.form else self.meaning
        assert meaning
        return limited(i, flushed(i, rounded_directly(i, meaning)))


def type_for(letter: str, i: Instruction) -> Type:
    """The type that a letter of a row stands for."""
    t = i.type
    match letter:
        case "b":
            return unsigned(t.width)
        case "w" if i.has("wide"):
            return type_of(f"{t.element[0]}{t.width * 2}")
        case "p" | "u":
            return type_of({"p": "pred", "u": "u32"}[letter])
        case "f":
            return i.types[0]
    return t


# --- meanings


def wide(x: Array) -> Array:
    """Integers with twice as many bits."""
    return x.astype(np.dtype(f"{x.dtype.kind}{x.dtype.itemsize * 2}").type)


def high_product(x: Array, y: Array) -> Array:
    """The upper half of the product of integers."""
    if width_of(x) < 64:
        return (wide(x) * wide(y) >> width_of(x)).astype(x.dtype)
    return np.asarray(x.astype(object) * y.astype(object) >> 64).astype(x.dtype)


def product(i: Instruction) -> Meaning:
    """mul.lo, mul.hi, mul.wide, or the product of floats."""
    if i.has("hi"):
        return high_product
    return (lambda x, y: wide(x) * wide(y)) if i.has("wide") else np.multiply


def product_and_sum(i: Instruction) -> Meaning:
    """mad: a product, then a sum."""
    multiply = product(i)
    return fused(i) if i.type.is_float else lambda x, y, z: multiply(x, y) + z


def fused(i: Instruction) -> Meaning:
    """fma: a product and a sum, rounded once."""
    element = type_of(i.type.element)
    if element.name in ("f32", "f64"):
        return fused_single if element.name == "f32" else fused_double

    def fuse(x: Array, y: Array, z: Array) -> Array:
        total = odd_sum(x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64))
        return element.read(round_to(odd_float(total) if element.name == "bf16" else total, element.name))

    return fuse


def fused_single(x: Array, y: Array, z: Array) -> Array:
    """x * y + z in float32. The product is exact in float64; their sum is, but for its last bit."""
    product, wide_z = x.astype(np.float64) * y, z.astype(np.float64)
    total = np.asarray(product + wide_z)
    doubtful = (total.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    if doubtful.any():
        product, wide_z = (np.broadcast_to(value, total.shape) for value in (product, wide_z))
        total[doubtful] = odd_sum(product[doubtful], wide_z[doubtful])
    return total.astype(np.float32)


def odd_sum(x: Array, y: Array) -> Array:
    """x + y in float64, whose last bit is 1 if the sum was rounded: rounding it again is then as rounding once."""
    total = np.asarray(x + y)
    back = total - x
    error = (x - (total - back)) + (y - back)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & (bits & 1 == 0)
    return np.where(inexact, np.where((error > 0) == (total > 0), bits + 1, bits - 1), bits).view(np.float64)


def odd_float(x: Array) -> Array:
    """Doubles as float32 whose last bit is 1 if the number was rounded."""
    bits = round_to(x, "f32", "rz")
    return (bits | (bits.view(np.float32) != x)).view(np.float32)


def fused_double(x: Array, y: Array, z: Array) -> Array:
    """x * y + z in float64: the exact product and the exact sum are doubles with an error, and errors are added oddly.

    Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008.
    """
    split = np.float64(2**27 + 1)
    high_x, high_y = (value * split - (value * split - value) for value in (x, y))
    product = x * y
    rest = high_x * high_y - product + high_x * (y - high_y) + (x - high_x) * high_y + (x - high_x) * (y - high_y)
    total = product + z
    back = total - product
    error = (product - (total - back)) + (z - back)
    correction = odd_sum(error, rest)
    fused = total + correction
    return np.where(np.isfinite(fused) & (correction != 0), fused, total)


def quotient(i: Instruction) -> Meaning:
    """div: floats, or integers rounded to zero. A division of an integer by zero gives all ones."""
    if i.type.is_float:
        return np.divide

    def divide(x: Array, y: Array) -> Array:
        safe = np.where(y == 0, y.dtype.type(1), y)
        floor = x // safe
        return np.where(y == 0, ~y, floor + ((floor < 0) & (floor * safe != x)))

    return divide


def remainder(x: Array, y: Array) -> Array:
    """rem of integers: it has the sign of `x`. The remainder of a division by zero is all ones."""
    return np.where(y == 0, ~y, np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))


def extreme(i: Instruction) -> Meaning:
    """min and max. Of -0 and 0, -0 is smaller; NaN loses, unless the instruction has `.NaN`."""
    choose = getattr(np, f"f{i.opcode}" if i.type.is_float and not i.has("NaN") else f"{i.opcode}imum")
    if not i.type.is_float:
        return choose

    def meaning(x: Array, y: Array, *rest: Array) -> Array:
        found = choose(x, y)
        if not np.all(found):
            zero = x + y if i.opcode == "max" else -(-x - y)
            found = np.where((x == 0) & (y == 0), zero, found)
        return meaning(found, *rest) if rest else found

    return meaning


def width_of(x: Array) -> int:
    return x.dtype.itemsize * 8


def shift_left(x: Array, by: Array) -> Array:
    """shl: a shift by the width or more leaves zeros."""
    return x << np.minimum(by, np.uint32(64)).astype(x.dtype)


def shift_right(x: Array, by: Array) -> Array:
    """shr: a shift by the width or more leaves zeros, or copies of the sign."""
    return x >> np.minimum(by, np.uint32(64)).astype(x.dtype)


def funnel(i: Instruction) -> Meaning:
    """shf: a shift of the 64 bits of two registers."""

    def shift(low: Array, high: Array, by: Array) -> Array:
        by = (by & np.uint32(31) if i.has("wrap") else np.minimum(by, np.uint32(32))).astype(np.uint64)
        both = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
        result = (both << by) >> np.uint64(32) if i.has("l") else both >> by
        return result.astype(np.uint32)

    return shift


def field(n: Array, x: Array) -> Array:
    """A place or a length in bfe and bfi: its last eight bits, but for 64-bit fields all of them, as on an H200."""
    return n & np.uint32(255) if width_of(x) == 32 else n


def extract(x: Array, start: Array, length: Array) -> Array:
    """bfe: a field of bits. Bits past the end are zeros, or copies of the field's sign."""
    empty = np.uint32(width_of(x)) - np.minimum(field(length, x), np.uint32(width_of(x)))
    return shift_right(shift_left(shift_right(x, field(start, x)), empty), empty)


def insert(x: Array, into: Array, start: Array, length: Array) -> Array:
    """bfi: a number with a field of bits replaced."""
    start, length = field(start, x), field(length, x)
    mask = shift_left(~shift_left(~x.dtype.type(0), length), start)
    return (into & ~mask) | (shift_left(x, start) & mask)


def permuted(i: Instruction) -> Meaning:
    """prmt: any four of the eight bytes of two registers, or copies of their signs."""
    if i.one_of("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        raise KeyError("mode")

    def permute(x: Array, y: Array, selector: Array) -> Array:
        both = np.asarray(x.astype(np.uint64) | y.astype(np.uint64) << np.uint64(32))[..., None]
        choice = np.asarray(selector)[..., None] >> np.array([0, 4, 8, 12], np.uint32) & np.uint32(15)
        byte = (both >> ((choice & np.uint32(7)) * np.uint32(8)).astype(np.uint64)).astype(np.uint8)
        sign = (byte.view(np.int8) >> np.int8(7)).view(np.uint8)
        return join(np.where(choice & np.uint32(8), sign, byte), np.uint32)

    return permute


def any_logic(x: Array, y: Array, z: Array, table: Array) -> Array:
    """lop3: any function of three bits, as the eight bits of a table."""
    chosen, n = np.zeros_like(x), int(np.asarray(table).ravel()[0])
    for row in range(8):
        if n >> row & 1:
            chosen = chosen | ((x if row & 4 else ~x) & (y if row & 2 else ~y) & (z if row & 1 else ~z))
    return chosen


def leading_zeros(x: Array) -> Array:
    """clz: the bits that are still zeros after each one has spread to the right."""
    for step in (1, 2, 4, 8, 16, 32):
        x = x | shift_right(x, np.uint32(step))
    return (width_of(x) - np.bitwise_count(x)).astype(np.uint32)


def highest_bit(i: Instruction) -> Meaning:
    """bfind: the position of the highest bit that is not the sign, or how far it is from the top; ones if none is."""

    def find(x: Array) -> Array:
        magnitude = np.where(x < 0, ~x, x)
        zeros = leading_zeros(np.asarray(magnitude).view(i.type.bits))
        position = zeros if i.has("shiftamt") else np.uint32(i.type.width - 1) - zeros
        return np.where(magnitude == 0, np.uint32(0xFFFFFFFF), position)

    return find


def reversed_bits(x: Array) -> Array:
    """brev."""
    bits = np.unpackbits(split(x, np.uint8), axis=-1, bitorder="little")
    return join(np.packbits(bits[..., ::-1], axis=-1, bitorder="little"), x.dtype)


UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
"""What comparisons of unsigned numbers are also called."""


def comparison(i: Instruction) -> Meaning:
    """setp: `ltu` is also true for a NaN, `ne` is false."""
    name = i.modifiers[0]
    nan = lambda x, y: np.isnan(x) | np.isnan(y)  # noqa: E731
    if name in ("num", "nan"):
        return (lambda x, y: ~nan(x, y)) if name == "num" else nan
    compare = vars(operator)[UNSIGNED.get(name, name[:2])]
    if len(name) == 3:
        return lambda x, y: compare(x, y) | nan(x, y)
    if name == "ne" and i.type.is_float:
        return lambda x, y: (x != y) & ~nan(x, y)
    return compare


def saturated_sum(i: Instruction) -> Meaning:
    """add and sub; integers with `.sat` stay in range."""
    operation: Any = np.add if i.opcode == "add" else np.subtract
    if not i.has("sat") or i.type.is_float:
        return operation
    low, high = np.iinfo(i.type.value).min, np.iinfo(i.type.value).max
    return lambda x, y: np.clip(operation(wide(x), wide(y)), low, high).astype(x.dtype)


def sum_of_products(i: Instruction) -> Meaning:
    """dp4a: the sum of the products of four bytes."""
    first, second = (np.int8 if t.is_signed else np.uint8 for t in i.types[-2:])

    def sum_up(x: Array, y: Array, z: Array) -> Array:
        products = split(x, first).astype(np.int32) * split(y, second)
        return products.sum(-1, dtype=np.int32).view(z.dtype) + z

    return sum_up


def classes(i: Instruction) -> Meaning:
    """testp: whether a float is of a kind. Zeros are normal."""
    tiny = np.finfo(i.type.value).tiny
    tests: dict[str, Meaning] = {"infinite": np.isinf, "finite": np.isfinite, "notanumber": np.isnan}
    tests |= {"number": lambda x: ~np.isnan(x), "normal": lambda x: np.isfinite(x) & ((np.abs(x) >= tiny) | (x == 0))}
    tests["subnormal"] = lambda x: (x != 0) & (np.abs(x) < tiny)
    return tests[i.modifiers[0]]


ROWS = {
    "add": Row("tt", form=saturated_sum),
    "sub": Row("tt", form=saturated_sum),
    "mul": Row("tt", form=product, result="w"),
    "mad": Row("ttw", form=product_and_sum, result="w"),
    "fma": Row("ttt", form=fused),
    "div": Row("tt", form=quotient),
    "rem": Row("tt", remainder),
    "min": Row("tt", form=extreme),
    "max": Row("tt", form=extreme),
    "neg": Row("t", np.negative),
    "abs": Row("t", np.abs),
    "copysign": Row("tt", lambda x, y: np.copysign(y, x)),
    "sqrt": Row("t", np.sqrt),
    "rsqrt": Row("t", lambda x: x.dtype.type(1) / np.sqrt(x)),
    "rcp": Row("t", lambda x: x.dtype.type(1) / x),
    "ex2": Row("t", np.exp2),
    "lg2": Row("t", np.log2),
    "sin": Row("t", np.sin),
    "cos": Row("t", np.cos),
    "tanh": Row("t", np.tanh),
    "and": Row("tt", np.bitwise_and),
    "or": Row("tt", np.bitwise_or),
    "xor": Row("tt", np.bitwise_xor),
    "not": Row("t", np.invert),
    "cnot": Row("t", lambda x: (x == 0).astype(x.dtype)),
    "lop3": Row("tttu", any_logic),
    "shl": Row("tu", shift_left),
    "shr": Row("tu", shift_right),
    "shf": Row("ttu", form=funnel),
    "bfe": Row("tuu", extract),
    "bfi": Row("bbuu", insert),
    "prmt": Row("bbb", form=permuted),
    "popc": Row("b", lambda x: np.bitwise_count(x).astype(np.uint32), "u"),
    "clz": Row("b", leading_zeros, "u"),
    "bfind": Row("t", form=highest_bit, result="u"),
    "brev": Row("b", reversed_bits),
    "sad": Row("ttt", lambda x, y, z: np.maximum(x, y) - np.minimum(x, y) + z),
    "dp4a": Row("uut", form=sum_of_products),
    "selp": Row("bbp", lambda x, y, which: np.where(which, x, y), "b"),
    "slct": Row("fft", lambda x, y, which: np.where(which >= 0, x, y), "f"),
    "testp": Row("t", form=classes, result="p"),
    "set": Row(
        "tt",
        form=lambda i: lambda x, y: np.where(comparison(i)(x, y), i.types[0].true, i.types[0].value(0)),
        result="f",
    ),
}
"""The instructions, except for `setp` and those that use the carry, which have two results."""


def rounded_directly(i: Instruction, meaning: Meaning) -> Meaning:
    """A meaning in float32 or float64 that rounds to zero, up or down, as `.rz`, `.rp` and `.rm` ask."""
    way = i.one_of("rz", "rm", "rp")
    if not way or not i.type.is_float:
        return meaning
    if i.type.element != "f32":
        raise KeyError(way)

    def directed(*values: Array) -> Array:
        exact = [value.astype(np.float64) for value in values]
        if i.opcode not in ("fma", "mad", "add", "sub"):
            return round_to(np.asarray(meaning(*exact)), "f32", way).view(np.float32)
        x, y = (exact[0] * exact[1], exact[2]) if len(exact) == 3 else exact
        y = -y if i.opcode == "sub" else y
        total = odd_sum(x, y)
        if way == "rm":  # the sum of opposite numbers is -0
            total = np.where((total == 0) & (np.signbit(x) != np.signbit(y)), -0.0, total)
        return round_to(total, "f32", way).view(np.float32)

    return directed


def flushed(i: Instruction, meaning: Meaning) -> Meaning:
    """A meaning that takes and returns zeros for subnormal numbers, if the instruction has `.ftz`."""
    if not i.has("ftz") or i.type.element != "f32":
        return meaning
    finish = (lambda r: r) if i.opcode in ("set", "setp", "testp") else flush
    return lambda *values: finish(meaning(*(flush(v) if v.dtype == np.float32 else v for v in values)))


def limited(i: Instruction, meaning: Meaning) -> Meaning:
    """A meaning whose results are in [0, 1] with `.sat`, and not negative with `.relu`."""
    if i.has("sat") and i.type.is_float:
        return lambda *values: np.nan_to_num(np.clip(meaning(*values), 0, 1), nan=0) + i.type.value(0)
    if i.has("relu"):
        return lambda *values: not_negative(meaning(*values))
    return meaning


@instruction(*ROWS)
def elementwise(machine: Machine, i: Instruction) -> Step:
    """The step of a row."""
    if i.has("cc"):
        return with_carry(machine, i)
    row = ROWS[i.opcode]
    letters = row.operands
    if len(i.operands) == len(letters) + 2 and i.opcode in ("min", "max"):  # of three operands
        letters += "t"
    if len(i.operands) != len(letters) + 1:
        raise PtxError(f"line {i.line}: {i.text}: the emulator knows {i.opcode} with {len(letters) + 1} operands")
    result = type_for(row.result, i)
    meaning, write = row.meaning_of(i), result.write
    gets = [
        machine.source(operand, type_for(letter, i)) for operand, letter in zip(i.operands[1:], letters, strict=True)
    ]
    put = machine.target(i.operands[0].partition("|")[0], result)
    if len(gets) == 2:
        first, second = gets
        return lambda mask: put(write(meaning(first(), second())), mask)
    return lambda mask: put(write(meaning(*[get() for get in gets])), mask)


@instruction("setp")
def set_predicate(machine: Machine, i: Instruction) -> Step:
    """A comparison. It may combine its result with a predicate, and set a second predicate to the opposite."""
    kind, compare = i.type, flushed(i, comparison(i))
    x, y = (machine.source(operand, kind) for operand in i.operands[1:3])
    puts = machine.targets(i.operands[0], "pred", "pred")
    combine = vars(np)[f"logical_{i.one_of('and', 'or', 'xor') or 'and'}"]
    other = machine.bits((*i.operands, "1")[3], 1)

    def step(mask: Mask) -> None:
        found = compare(x(), y())
        results = np.moveaxis(found, -1, 0) if kind.packed > 1 else (found, ~found)
        for put, result in zip(puts, results, strict=False):
            put(combine(result, other()), mask)

    return step


@instruction("addc", "subc", "madc")
def with_carry(machine: Machine, i: Instruction) -> Step:
    """Sums that add the carry of the instruction before, or with `.cc` keep the carry for the next.

    x - y is x + ~y + 1; a borrow is a carry that is missing.
    """
    kind, subtracts = i.type, i.opcode.startswith("sub")
    gets = [machine.source(operand, kind) for operand in i.operands[1:]]
    put, half = machine.target(i.operands[0], kind), high_product if i.has("hi") else np.multiply

    def step(mask: Mask) -> None:
        *factors, y = (np.asarray(get()) for get in gets)
        x: Any = half(*factors) if len(factors) == 2 else factors[0]
        x, y = x.view(kind.bits), y.view(kind.bits)
        carry = machine.carry if i.opcode in ("addc", "subc", "madc") else np.False_
        if subtracts:
            y, carry = ~y, ~carry
        total = x + y + carry
        if i.has("cc"):
            machine.carry = np.where(mask, ((total < x) | ((total == x) & carry)) ^ subtracts, machine.carry)
        put(total, mask)

    return step
