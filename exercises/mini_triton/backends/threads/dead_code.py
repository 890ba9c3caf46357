"""A pass over a thread's instructions: without those that nothing needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mini_triton.backends.threads.instructions import Instruction, Register


def drop_dead(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions on which an effect depends. Values that a loop carries for itself only are also dropped."""
    # Task 13.5: Keep the instructions that are needed, in order.
    raise NotImplementedError("Task 13.5: On demand")
