"""A pass over a thread's instructions: barriers, where accesses to shared memory need them.

Source: Triton's `lib/Analysis/Membar.cpp`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mini_triton.backends.threads.instructions import Instruction, Room

Pending = frozenset[Room]
"""Accesses to shared memory since the last barrier."""


def collide(room: Room, pending: Iterable[Room]) -> bool:
    """Whether an access must wait until all threads have finished an earlier one."""
    # [task 13.9] Decide whether the access must wait.
    return any(
        room.start < other.stop
        and other.start < room.stop
        and (room.writes or other.writes)
        and room.group != other.group
        for other in pending
    )
    # [end]


def add_barriers(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions with a barrier before each access that would collide with one since the last barrier.

    All threads of a program take the same branches. At a label, accesses of all paths to it may be pending.
    """
    # [task 13.9] Add the barriers.
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
    # [end]
