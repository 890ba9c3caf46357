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
    # [task 9.6] Inner loops come first: what leaves them may leave the outer ones too.
    loops = [operation for operation in module.walk() if operation.name in LOOPS]
    return sum([hoist_from(loop) for loop in reversed(loops)]) > 0
    # [end]


def hoist_from(loop: Operation) -> int:
    """Move what does not change in a loop in front of it; how many operations that were."""
    # [task 9.6] In order: what a hoisted operation computes is outside from then on. Operations inside of a branch stay
    # where they are.
    writes = bool(effects(loop) & WRITES)
    hoisted = 0
    for region in loop.regions:
        for operation in list(region.block.operations):
            if may_hoist(operation, loop, writes) and is_invariant(operation, loop):
                assert loop.parent is not None
                region.block.operations.remove(operation)
                operation.parent = None
                loop.parent.insert(loop.parent.operations.index(loop), operation)
                hoisted += 1
    return hoisted
    # [end]


def may_hoist(operation: Operation, loop: Operation, writes: bool) -> bool:
    """Whether an operation may be done before a loop, be it that the loop does not run.

    Pure operations that end may. Loads may if nothing in the loop `writes`, and the loop does run: otherwise they might
    be out of bounds.
    """
    # [task 9.6] Terminators may not. Nor may an `scf.while`: it may never end where it should not run.
    touched = effects(operation)
    if operation.name in TERMINATORS or touched & WRITES or any(o.name == "scf.while" for o in operation.walk()):
        return False
    return not touched & READS or (not writes and certainly_runs(loop))
    # [end]


def certainly_runs(loop: Operation) -> bool:
    """Whether the bounds of a loop are known, and it runs at least once."""
    # [task 9.6] Only of an `scf.for` anything is known.
    if loop.name != "scf.for":
        return False
    lower, upper = (constant_of(bound) for bound in loop.operands[:2])
    return lower is not None and upper is not None and lower < upper
    # [end]


def is_invariant(operation: Operation, loop: Operation) -> bool:
    """Whether what an operation uses, or what operations inside it use, is computed outside of the loop."""
    # [task 9.6] Values that are defined inside of the operation itself do not count.
    used = [operand for inner in operation.walk() for operand in inner.operands]
    return not any(is_inside(value, loop) and not is_inside(value, operation) for value in used)
    # [end]
