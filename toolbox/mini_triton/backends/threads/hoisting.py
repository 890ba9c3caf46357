"""A pass over instructions: of an address, what stays the same in a loop is computed before the loop. (Given.)

In `x + i * stride + j`, where only i changes, the first sum changes in each iteration, and so does the second. The pass
adds j first. The loop becomes shorter, so NVIDIA's assembler unrolls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mini_triton.backends.threads.instructions import Instruction, Register

SUMS = ("mad.wide.s32", "mad.lo.s64")
"""A distance, the bytes of an element, and an address."""


def hoist(instructions: Sequence[Instruction], new: Callable[[str], Register]) -> list[Instruction]:
    """The instructions with shorter loops. `new` makes a register of a kind.

    A loop is the code between a label and a later branch to it.
    """
    result = list(instructions)
    ends = [instruction for instruction in result if instruction.opcode == "bra"]
    for end in ends:
        heads = [n for n, other in enumerate(result) if other.opcode == "label" and other.operands == end.operands]
        stop = next(n for n, other in enumerate(result) if other is end)
        if heads and heads[0] < stop:
            before = shorten(result, heads[0] + 1, stop, new)
            result[heads[0] : heads[0]] = before
    return result


def shorten(code: list[Instruction], start: int, stop: int, new: Callable[[str], Register]) -> list[Instruction]:
    """Change the sums of a loop's addresses in place. Returns the instructions to run before the loop."""
    written = {register for instruction in code[start:stop] for register in instruction.results}
    sums: dict[Register, Instruction] = {}
    before: dict[tuple[object, ...], Instruction] = {}
    for number in range(start, stop):
        outer = code[number]
        if outer.opcode not in SUMS or outer.guard:
            continue
        *distance, base = outer.operands
        inner = sums.get(base) if isinstance(base, Register) else None
        if inner and not written.intersection(distance) and inner.operands[2] not in written:
            key = (outer.opcode, *distance, inner.operands[2])
            if key not in before:
                operands = (*distance, inner.operands[2])
                before[key] = Instruction(outer.opcode, (new("b64"),), operands, place=outer.place)
            operands = (*inner.operands[:2], *before[key].results)
            outer = code[number] = Instruction(inner.opcode, outer.results, operands, place=outer.place)
        sums[outer.results[0]] = outer
    return list(before.values())
