"""A pass over a thread's instructions: what all threads have in common is combined first. (Given.)

In `(x ^ key) ^ counter`, where only x differs between threads, `key ^ counter` is the same for all elements. An
instruction takes at most one operand from the registers that the threads of a warp share, so each element would also
need a copy. Random numbers have many such sums.

Source: LLVM's `Reassociate.cpp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from mini_triton.backends.threads.instructions import Instruction, Operand, Register

SUM = "xor.b32"
SAME = ("mov", "ld.param", "cvt", "add", "sub", "mul", "mad", "min", "max", "and", "or", "xor", "shl", "shr")
"""How opcodes begin whose results are the same in all threads if their operands are."""


def combine_uniforms(instructions: Sequence[Instruction], new: Callable[[str], Register]) -> list[Instruction]:
    """The instructions, in which a sum's uniform parts are added first. `new` makes a register of a kind."""
    counts = Counter(register for instruction in instructions for register in instruction.results)
    uniform: set[Operand] = set()
    parts: dict[Operand, tuple[Operand, Operand]] = {}  # of a sum: what differs, and what does not
    known: dict[tuple[Operand, Operand], Register] = {}  # uniform sums since the last label
    result: list[Instruction] = []
    for instruction in instructions:
        if instruction.opcode == "label":
            known.clear()
        if [counts[register] for register in instruction.results] == [1] and not instruction.guard:
            (made,) = instruction.results
            if instruction.opcode == SUM:
                x, same = sorted(instruction.operands, key=uniform.__contains__)
                if same in uniform and x in parts:
                    x, other = parts[x]
                    if (other, same) not in known:
                        known[other, same] = new(made.kind)
                        result.append(replace(instruction, results=(known[other, same],), operands=(other, same)))
                        uniform.add(known[other, same])
                    same = known[other, same]
                    instruction = replace(instruction, operands=(x, same))
                if same in uniform and x not in uniform:
                    parts[made] = x, same
            if instruction.opcode.startswith(SAME) and all(
                operand in uniform or (isinstance(operand, int | str) and operand != "%tid.x")
                for operand in instruction.operands
            ):
                uniform.add(made)
        result.append(instruction)
    return result
