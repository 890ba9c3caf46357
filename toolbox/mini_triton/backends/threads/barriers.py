"""Passes over a thread's instructions: barriers where shared memory needs them, and no dead instructions.

Source: Triton's `lib/Analysis/Membar.cpp`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mini_triton.backends.threads.instructions import Instruction, Register, Room

Pending = frozenset[Room]
"""Accesses to shared memory since the last barrier."""


def collide(room: Room, pending: Iterable[Room]) -> bool:
    """Whether an access must wait until all threads have finished an earlier one."""
    return any(
        room.start < other.stop
        and other.start < room.stop
        and (room.writes or other.writes)
        and room.group != other.group
        for other in pending
    )


def add_barriers(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions with a barrier before each access that would collide with one since the last barrier.

    All threads of a program take the same branches. At a label, accesses of all paths to it may be pending.
    """
    at_label: dict[str, Pending] = defaultdict(frozenset)
    needed: set[int] = set()
    before = None
    while before != (state := (dict(at_label), len(needed))):
        before = state
        pending: Pending = frozenset()
        for number, instruction in enumerate(instructions):
            room = instruction.room
            if instruction.opcode == "label":
                pending = at_label[str(instruction.operands[0])] = pending | at_label[str(instruction.operands[0])]
            elif instruction.opcode == "bra":
                at_label[str(instruction.operands[0])] |= pending
                pending = pending if instruction.guard else frozenset()
            elif instruction.opcode == "bar.sync":
                pending = frozenset()
            elif room:
                if number in needed or collide(room, pending):
                    needed.add(number)
                    pending = frozenset()
                pending |= {room}
    result = []
    for number, instruction in enumerate(instructions):
        if number in needed:
            result.append(Instruction("bar.sync", operands=(0,), place=instruction.place))
        result.append(instruction)
    return result


def drop_dead(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions on which an effect depends. Values that a loop carries for itself only are also dropped."""
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
