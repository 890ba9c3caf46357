"""A pass over a thread's instructions: divisions by constants become multiplications. (Given.)

NVIDIA's assembler divides by any number, even by 4, with more than twenty instructions, which go through floats. x / 3
is the upper half of x * 0x55555556, and one more if x is negative.

Source: "Division by Invariant Integers using Multiplication" (Granlund and Montgomery, 1994); LLVM's
`DivisionByConstantInfo.cpp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from mini_triton.backends.threads.instructions import Instruction, Operand, Register

DIVISIONS = ("div.s32", "rem.s32")


def multiply_by_reciprocals(instructions: Sequence[Instruction], new: Callable[[str], Register]) -> list[Instruction]:
    """The instructions without divisions of 32 bits by constants. `new` makes a register of a kind."""
    counts = Counter(register for instruction in instructions for register in instruction.results)
    constants = {
        instruction.results[0]: number
        for instruction in instructions
        if instruction.opcode == "mov.b32"
        and isinstance(number := instruction.operands[0], int)
        and counts[instruction.results[0]] == 1
    }
    result: list[Instruction] = []
    for instruction in instructions:
        divisor = constants.get(instruction.operands[1], 0) if instruction.opcode in DIVISIONS else 0  # type: ignore[arg-type]
        if 1 < divisor < 1 << 31:
            result.extend(divide(instruction, divisor, new))
        else:
            result.append(instruction)
    return result


def divide(division: Instruction, divisor: int, new: Callable[[str], Register]) -> Iterator[Instruction]:
    """The instructions for a quotient or a remainder. Both are rounded to zero."""
    x, wanted, place = division.operands[0], division.results, division.place
    factor, distance = reciprocal(divisor)
    is_large = factor >> 31  # the instruction takes the factor as factor - 2**32

    def op(opcode: str, *operands: Operand) -> Instruction:
        return Instruction(opcode, (new("b32"),), operands, place=place)

    yield (high := op("mul.hi.s32", x, factor - (is_large << 32)))
    if is_large:
        yield (high := op("add.s32", *high.results, x))
    if distance:
        yield (high := op("shr.s32", *high.results, distance))
    yield (sign := op("shr.u32", x, 31))
    yield (quotient := op("add.s32", *high.results, *sign.results))
    if division.opcode == "div.s32":
        yield Instruction("mov.b32", wanted, quotient.results, place=place)
    else:
        yield (product := op("mul.lo.s32", *quotient.results, divisor))
        yield Instruction("sub.s32", wanted, (x, *product.results), place=place)


def reciprocal(divisor: int) -> tuple[int, int]:
    """A factor of 32 bits and a distance d: x / divisor, rounded down, is x * factor >> (32 + d), for 0 <= x < 2**31.

    The factor is a bit larger than 2**(32 + d) / divisor. The error, times x, must be less than 1 / divisor.
    """
    distance = 0
    while True:
        power = 1 << 32 + distance
        factor = power // divisor + 1
        if factor * divisor - power <= 2 << distance:
            return factor, distance
        distance += 1
