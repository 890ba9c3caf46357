"""A pass over a thread's instructions: accesses add constant distances themselves. (Given.)

A thread's elements are at constant distances from its first one: [%d6], [%d6+4096], [%d6+8192], ... With a register for
each of these addresses, a thread with many elements runs out of registers.

The index of such an element is `xor.b32 index, 1024`. If `index` has no bit of the constant, the xor is a sum, which
does not overflow, and the address is that of `index` and 4 * 1024 bytes more. In `program * 4096 + index`, no bit is in
both parts, so this sum does not overflow either. Nor does `(row ^ 16) * 64`, which is `row * 64` and 1024 more, if both
factors are small enough. Where such a sum is needed itself, it is one addition of a constant to the first element's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from mini_triton.backends.threads.hoisting import SUMS
from mini_triton.backends.threads.instructions import Address, Instruction, Operand, Register

ALL = (1 << 32) - 1
MOST_THREADS = 1024
FARTHEST = 1 << 23
"""Bytes that an access can add to its address: machine code has 24 bits for them, and one is the sign."""
INDICES = ("add.s32", "mul.lo.s32")


def use_offsets(instructions: Sequence[Instruction], new: Callable[[str], Register]) -> list[Instruction]:
    """The instructions, with constant distances in the accesses. `new` makes a register of a kind."""
    return Offsets(instructions, new).result


class Offsets:
    """One run of the pass."""

    def __init__(self, instructions: Sequence[Instruction], new: Callable[[str], Register]) -> None:
        counts = Counter(register for instruction in instructions for register in instruction.results)
        self.made = {  # instructions by their results
            instruction.results[0]: instruction
            for instruction in instructions
            if len(instruction.results) == 1 and counts[instruction.results[0]] == 1 and not instruction.guard
        }
        self.new = new
        self.bits: dict[Register, int] = {}
        self.parts: dict[Register, tuple[Operand, int]] = {}  # of an index: another index, and the distance from it
        self.known: dict[tuple[str, tuple[Operand, ...]], Register] = {}  # computed since the last label
        self.distances: dict[Register, int] = {}  # from a register to the address that it stood for
        self.result: list[Instruction] = []
        only_addresses = self.only_addresses(instructions)
        for instruction in instructions:
            if instruction.opcode in SUMS and instruction.results[0] in only_addresses:
                self.shorten(instruction)
            elif instruction.opcode in INDICES and (parts := self.split(*instruction.results))[1]:
                self.result.append(replace(instruction, opcode="add.s32", operands=parts))
            else:
                self.note(instruction)
                operands = tuple(map(self.moved, instruction.operands))
                changed = operands != instruction.operands
                self.result.append(replace(instruction, operands=operands) if changed else instruction)

    def only_addresses(self, instructions: Sequence[Instruction]) -> set[Register]:
        """The sums that are only addresses of accesses, or bases of such sums."""
        sums = {register for register, instruction in self.made.items() if instruction.opcode in SUMS}
        exact = [read for instruction in instructions for read in exact_reads(instruction, sums) if read in sums]
        for register in exact:
            sums.discard(register)
            base = self.made[register].operands[2]
            if base in sums:
                exact.append(base)
        return sums

    def shorten(self, instruction: Instruction) -> None:
        """Add an address without its constant part."""
        index, size, base = instruction.operands
        constant = 0
        if instruction.opcode == "mad.wide.s32" and isinstance(size, int):
            rest, distance = self.split(index)
            if distance * size < FARTHEST:
                index, constant = rest, distance * size
        if isinstance(base, Register):
            constant += self.distances.get(base, 0)
        self.distances[instruction.results[0]] = constant
        self.result.append(replace(instruction, operands=(index, size, base)))

    def moved(self, operand: Operand) -> Operand:
        """An operand, with its constant part if it is an address."""
        if not isinstance(operand, Address):
            return operand
        return operand._replace(offset=operand.offset + self.distances.get(operand.base, 0))

    def split(self, index: Operand) -> tuple[Operand, int]:
        """An index as the sum of another index and a constant, which does not overflow."""
        if not isinstance(index, Register) or index not in self.made:
            return index, 0
        if index not in self.parts:
            self.parts[index] = self.parts_of(index, self.made[index])
        return self.parts[index]

    def parts_of(self, index: Register, instruction: Instruction) -> tuple[Operand, int]:
        """The same, from the instruction that computes the index."""
        match instruction.opcode, *instruction.operands:
            case (("xor.b32" | "add.s32"), first, second) if not self.possible(first) & self.possible(second):
                if isinstance(second, int):
                    return (first, second) if 0 <= second <= ALL >> 1 else (index, 0)
                (rest, distance), (other, more) = self.split(first), self.split(second)
                if distance + more:
                    return self.compute(instruction, rest, other), distance + more
            case "mul.lo.s32", first, second:
                rest, distance = self.split(first)
                factor = self.constant(second)
                if distance and self.possible(first) * factor <= ALL >> 1:
                    return self.compute(instruction, rest, second), distance * factor
        return index, 0

    def constant(self, operand: Operand) -> int:
        """The number in a register; `ALL` if it is not a constant."""
        instruction = self.made.get(operand) if isinstance(operand, Register) else None
        if instruction and instruction.opcode == "mov.b32" and isinstance(instruction.operands[0], int):
            return instruction.operands[0] & ALL
        return ALL

    def compute(self, like: Instruction, *operands: Operand) -> Register:
        """A register with the result of an instruction for other operands, computed once between two labels."""
        if (like.opcode, operands) not in self.known:
            made = replace(like, results=(self.new("b32"),), operands=operands)
            self.made[made.results[0]] = made
            self.note(made)
            self.result.append(made)
        return self.known[like.opcode, operands]

    def note(self, instruction: Instruction) -> None:
        """Remember what an index is computed from, up to the next label."""
        if instruction.opcode == "label":
            self.known.clear()
        elif instruction.opcode in INDICES and self.made.keys() >= {*instruction.results, *instruction.reads}:
            self.known[instruction.opcode, instruction.operands] = instruction.results[0]

    def possible(self, operand: Operand) -> int:
        """The bits of a 32-bit operand that may be 1."""
        if isinstance(operand, int):
            return operand & ALL
        if not isinstance(operand, Register):
            return MOST_THREADS - 1 if operand == "%tid.x" else ALL
        if operand not in self.bits:
            self.bits[operand] = self.possible_result(self.made[operand]) if operand in self.made else ALL
        return self.bits[operand]

    def possible_result(self, instruction: Instruction) -> int:
        """The bits of an instruction's result that may be 1."""
        known = [self.possible(operand) for operand in instruction.operands]
        match instruction.opcode, *instruction.operands:
            case (("mov.u32" | "mov.b32"), _):
                return known[0]
            case "and.b32", _, _:
                return known[0] & known[1]
            case (("xor.b32" | "or.b32"), _, _):
                return known[0] | known[1]
            case "add.s32", _, _ if not known[0] & known[1]:
                return known[0] | known[1]
            case "shl.b32", _, int(distance):
                return known[0] << distance & ALL
            case "shr.u32", _, int(distance):
                return known[0] >> distance
            case "mul.lo.s32", _, _:
                multiples, largest = -lowest(known[0]) * lowest(known[1]), known[0] * known[1]
                return multiples & (1 << min(32, largest.bit_length())) - 1
        return ALL


def lowest(bits: int) -> int:
    """The lowest of some bits; a number with these bits is a multiple of it."""
    return bits & -bits


def exact_reads(instruction: Instruction, sums: set[Register]) -> list[Register]:
    """The registers that an instruction reads, but not as the address of an access, nor as the base of these sums."""
    reads = instruction.reads
    bases = [operand.base for operand in instruction.operands if isinstance(operand, Address)]
    if instruction.opcode in SUMS and instruction.results[0] in sums:
        bases += [base for base in instruction.operands[2:] if isinstance(base, Register)]
    for base in bases:
        reads.remove(base)
    return reads
