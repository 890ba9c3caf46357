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
    # Task 13.9: Decide whether the access must wait.
    raise NotImplementedError("Task 13.9: Barriers")


def add_barriers(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions with a barrier before each access that would collide with one since the last barrier.

    All threads of a program take the same branches. At a label, accesses of all paths to it may be pending.
    """
    # Task 13.9: Add the barriers.
    raise NotImplementedError("Task 13.9: Barriers")
