"""A pass over a thread's instructions that drops those that nothing needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mini_triton.backends.threads.instructions import Instruction, Register


def drop_dead(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions that are needed, in order.

    An instruction with an effect (`has_effect`) is needed. If a needed instruction reads a register, all instructions
    that write this register are needed, wherever they stand, because a loop leads back. Instructions that only each
    other need are dropped, such as those of %r1, which this loop carries in vain:

        mov.b32 %r0, 0;
        mov.b32 %r1, 0;                 dropped
    $L1:
        add.s32 %r0, %r0, 1;
        add.s32 %r1, %r1, %r0;          dropped
        setp.lt.s32 %p0, %r0, 10;
        @%p0 bra $L1;
    """
    # [task 13.5] Select the needed instructions.
    writers: dict[Register, list[int]] = defaultdict(list)
    for number, instruction in enumerate(instructions):
        for register in instruction.results:
            writers[register].append(number)
    left = [number for number, instruction in enumerate(instructions) if instruction.has_effect]
    live: set[int] = set()
    while left:
        number = left.pop()
        live.add(number)
        for register in instructions[number].reads:
            left.extend(writers.pop(register, ()))
    return [instruction for number, instruction in enumerate(instructions) if number in live]
    # [end]
