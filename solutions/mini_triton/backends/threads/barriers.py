"""A pass over a thread's instructions: barriers, where accesses to shared memory need them.

An instruction that accesses shared memory has a `room`: the bytes that it accesses in any thread, whether it writes
them, and a group. All threads of a program take the same branches, so they meet at every barrier.

Source: Triton's `lib/Analysis/Membar.cpp`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from mini_triton.backends.threads.instructions import Instruction, Room

Pending = frozenset[Room]
"""Accesses to shared memory since the last barrier."""


def collide(room: Room, others: Iterable[Room]) -> bool:
    """Whether an access needs a barrier between itself and one of several others.

    Two accesses need a barrier if different threads may access the same byte, and at least one of them writes it.
    """
    # [task 13.9] Decide whether the access collides with another.
    return any(
        room.start < other.stop
        and other.start < room.stop
        and (room.writes or other.writes)
        and room.group != other.group
        for other in others
    )
    # [end]


def is_safe(instructions: Sequence[Instruction], barriers: Collection[int] = ()) -> bool:
    """Whether a barrier separates any two accesses that collide, on every path from one to the other.

    There is a barrier at each `bar.sync`, and one just before each access whose number is in `barriers`. A path can
    begin at any instruction, even at one that no branch reaches, and can pass an instruction many times. The first
    operand of a "label" and of a branch, `bra`, is the name of a place in the code. A branch with a guard goes there or
    continues with the next instruction; the guard can hold or not, each time. A branch without a guard always goes
    there.
    """
    # [task 13.9] Decide whether the barriers suffice.
    at_label: dict[str, Pending] = defaultdict(frozenset)
    before = None
    while before != at_label:
        before = dict(at_label)
        pending: Pending = frozenset()
        for number, instruction in enumerate(instructions):
            if number in barriers or instruction.opcode == "bar.sync":
                pending = frozenset()
            if instruction.opcode in ("label", "bra"):
                (name,) = map(str, instruction.operands)
                at_label[name] |= pending
                if instruction.opcode == "label":
                    pending = at_label[name]
                elif not instruction.guard:
                    pending = frozenset()
            elif instruction.room:
                if collide(instruction.room, pending):
                    return False
                pending |= {instruction.room}
    return True
    # [end]


def add_barriers(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions with barriers among them, such that the result is safe, and no added barrier can be left out.

    In code without branches, no smaller number of barriers is safe. A barrier is an instruction `bar.sync` with the
    operand 0. Each is just before an access to shared memory, and has the access's source location.
    """
    # [task 13.9] Add the barriers.
    relevant = [n for n, i in enumerate(instructions) if i.room or i.opcode in ("label", "bra", "bar.sync")]
    steps = [instructions[number] for number in relevant]
    accesses = [step for step, instruction in enumerate(steps) if instruction.room]
    needed = set(accesses)
    for step in accesses:
        if is_safe(steps, needed - {step}):
            needed.remove(step)
    before = {relevant[step] for step in needed}
    result = []
    for number, instruction in enumerate(instructions):
        if number in before:
            result.append(Instruction("bar.sync", operands=(0,), place=instruction.place))
        result.append(instruction)
    return result
    # [end]
