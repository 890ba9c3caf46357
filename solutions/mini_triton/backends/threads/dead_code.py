"""A pass over a thread's instructions: without those that nothing needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mini_triton.backends.threads.instructions import Instruction, Register


def drop_dead(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions on which an effect depends. Values that a loop carries for itself only are also dropped."""
    # [task 13.5] Keep the instructions that are needed, in order.
    writers: dict[Register, list[int]] = defaultdict(list)
    for number, instruction in enumerate(instructions):
        for register in instruction.results:
            writers[register].append(number)
    left = [number for number, instruction in enumerate(instructions) if instruction.has_effect]
    live: set[int] = set()
    while left:
        number = left.pop()
        if number not in live:
            live.add(number)
            for register in instructions[number].reads:
                left.extend(writers.pop(register, ()))
    return [instruction for number, instruction in enumerate(instructions) if number in live]
    # [end]
