"""Loop-invariant code motion: operations with the same result in each round of a loop move in front of the loop.

Source: MLIR's `LoopInvariantCodeMotionUtils.cpp`; Triton's `LoopInvariantCodeMotion.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation
from mini_triton.transforms.effects import TERMINATORS, WRITES, effects, may_change_memory, may_speculate
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import LOOPS, blocks_of, is_inside, move


def hoist_invariants(module: Operation) -> bool:
    """Move invariant operations out of all loops, as far out as possible; return whether any moved."""
    # Task 9.6: `hoist_from` handles one loop. In which order must you visit nested loops?
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def hoist_from(loop: Operation) -> bool:
    """Move the invariant operations of one loop in front of it, in order; return whether any moved.

    Only operations directly in the loop's blocks move, together with their regions.
    """
    # Task 9.6: `may_hoist` and `is_invariant` decide. `move(operation, loop)` moves.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def is_invariant(operation: Operation, loop: Operation) -> bool:
    """Whether every operand of an operation, and of the operations inside it, is defined outside the loop."""
    # Task 9.6: Ignore values that are defined inside the operation itself.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def may_hoist(operation: Operation, loop: Operation) -> bool:
    """Whether the program stays the same if an operation of a loop runs once, before the loop.

    Three questions decide. May the operation run once instead of in each round? May it run although the loop does not?
    If not: does the loop certainly run, and does it leave memory unchanged?
    """
    # Task 9.6: `effects.py` and `certainly_runs` answer these questions. Terminators stay. It is unknown whether an
    # `scf.while` runs, and it counts as changing memory.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def certainly_runs(loop: Operation) -> bool:
    """Whether the bounds of an `scf.for` are known, and it runs at least once."""
    # Task 9.6: `constant_of` returns a number, or None if the value is not a constant.
    raise NotImplementedError("Task 9.6: Loop-invariant code")
