"""Loop-invariant code motion: what is the same in each round of a loop is computed once, before it.

Source: MLIR's `LoopInvariantCodeMotionUtils.cpp`; Triton's `LoopInvariantCodeMotion.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation
from mini_triton.transforms.effects import READS, TERMINATORS, WRITES, effects, is_inside
from mini_triton.transforms.rewriting import constant_of

LOOPS = ("scf.for", "scf.while")


def hoist_invariants(module: Operation) -> bool:
    """Move operations in front of the loops in which they do not change, as far out as that goes; whether any moved."""
    # Task 9.6: Inner loops come first: what leaves them may leave the outer ones too.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def hoist_from(loop: Operation) -> int:
    """Move what does not change in a loop in front of it; how many operations that were."""
    # Task 9.6: In order: what a hoisted operation computes is outside from then on. Operations inside of a branch stay
    # where they are.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def may_hoist(operation: Operation, loop: Operation, writes: bool) -> bool:
    """Whether an operation may be done before a loop, be it that the loop does not run.

    Pure operations that end may. Loads may if nothing in the loop `writes`, and the loop does run: otherwise they might
    be out of bounds.
    """
    # Task 9.6: Terminators may not. Nor may an `scf.while`: it may never end where it should not run.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def certainly_runs(loop: Operation) -> bool:
    """Whether the bounds of a loop are known, and it runs at least once."""
    # Task 9.6: Only of an `scf.for` anything is known.
    raise NotImplementedError("Task 9.6: Loop-invariant code")


def is_invariant(operation: Operation, loop: Operation) -> bool:
    """Whether what an operation uses, or what operations inside it use, is computed outside of the loop."""
    # Task 9.6: Values that are defined inside of the operation itself do not count.
    raise NotImplementedError("Task 9.6: Loop-invariant code")
