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
    # Task 13.9: Decide whether the access collides with another.
    raise NotImplementedError("Task 13.9: Barriers")


def is_safe(instructions: Sequence[Instruction], barriers: Collection[int] = ()) -> bool:
    """Whether a barrier separates any two accesses that collide, on every path from one to the other.

    There is a barrier at each `bar.sync`, and one just before each access whose number is in `barriers`. A path can
    begin at any instruction, even at one that no branch reaches, and can pass an instruction many times. The first
    operand of a "label" and of a branch, `bra`, is the name of a place in the code. A branch with a guard goes there or
    continues with the next instruction; the guard can hold or not, each time. A branch without a guard always goes
    there.
    """
    # Task 13.9: Decide whether the barriers suffice.
    raise NotImplementedError("Task 13.9: Barriers")


def add_barriers(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions with barriers among them, such that the result is safe, and no added barrier can be left out.

    In code without branches, no smaller number of barriers is safe. A barrier is an instruction `bar.sync` with the
    operand 0. Each is just before an access to shared memory, and has the access's source location.
    """
    # Task 13.9: Add the barriers.
    raise NotImplementedError("Task 13.9: Barriers")
