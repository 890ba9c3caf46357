"""A pass over a thread's instructions: products share the registers of their sums. (Given.)

The sums of a product by warp groups take up to 128 registers. In the gradients of attention, the first product of an
iteration is no longer needed when the third one starts. NVIDIA's assembler still gives each its own registers, so fewer
programs fit on a multiprocessor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from mini_triton.backends.threads.instructions import Address, Instruction, Operand, Register, Vector

Place = tuple[int, int]
"""The number of a piece of code without labels and branches, and that of an instruction."""


def share_sums(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions, in which sums take the registers of earlier ones whose last use is in the same piece."""
    sums: dict[Register, Vector] = {}
    for instruction in instructions:
        if instruction.opcode.startswith("wgmma.mma_async"):
            vector: Vector = instruction.operands[0]  # type: ignore[assignment]
            sums |= dict.fromkeys(vector, vector)
    uses: dict[Vector, list[Place]] = defaultdict(list)
    piece = 0
    for number, instruction in enumerate(instructions):
        piece += instruction.opcode in ("label", "bra")
        for register in (*instruction.results, *instruction.reads):
            if register in sums:
                uses[sums[register]].append((piece, number))
    last: dict[Vector, Place] = {}
    names: dict[Register, Register] = {}
    for own, (first, *_, end) in uses.items():
        if first[0] == end[0]:
            free = (each for each in last if len(each) == len(own) and first[:1] <= last[each] < first)
            home = next(free, own)
            last[home] = end
            names |= zip(own, home, strict=True)

    def renamed(registers: Vector) -> Vector:
        return tuple(names.get(register, register) for register in registers)

    def changed(operand: Operand) -> Operand:
        if isinstance(operand, Register):
            return names.get(operand, operand)
        if isinstance(operand, Address):
            return operand._replace(base=names.get(operand.base, operand.base))
        return operand if isinstance(operand, int | str) else renamed(operand)

    return [
        replace(each, results=renamed(each.results), operands=tuple(map(changed, each.operands)))
        for each in instructions
    ]
