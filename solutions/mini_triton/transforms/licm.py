"""Loop-invariant code motion: what is the same in each round of a loop is computed once, before it.

Source: MLIR's `LoopInvariantCodeMotionUtils.cpp`; Triton's `LoopInvariantCodeMotion.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation
from mini_triton.transforms.effects import TERMINATORS, WRITES, effects, may_change_memory, may_speculate
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import LOOPS, blocks_of, is_inside, move


def hoist_invariants(module: Operation) -> bool:
    """Move operations in front of the loops in which they do not change, as far out as that goes; whether any moved."""
    # [task 9.6] `hoist_from` does it for one loop. In which order do the loops come?
    loops = [operation for operation in module.walk() if operation.name in LOOPS]
    return any([hoist_from(loop) for loop in reversed(loops)])
    # [end]


def hoist_from(loop: Operation) -> bool:
    """Move what does not change in a loop in front of it, in order; whether that was anything.

    Only operations that stand in the blocks of the loop itself move, with all that is inside them.
    """
    # [task 9.6] `may_hoist` and `is_invariant` decide. `move(operation, loop)` moves.
    hoisted = False
    for block in blocks_of(loop):
        for operation in list(block.operations):
            if may_hoist(operation, loop) and is_invariant(operation, loop):
                move(operation, loop)
                hoisted = True
    return hoisted
    # [end]


def is_invariant(operation: Operation, loop: Operation) -> bool:
    """Whether all that an operation uses, and that operations inside it use, is computed outside of the loop."""
    # [task 9.6] Values that are defined inside of the operation itself do not count.
    used = [operand for inner in operation.walk() for operand in inner.operands]
    return not any(is_inside(value, loop) and not is_inside(value, operation) for value in used)
    # [end]


def may_hoist(operation: Operation, loop: Operation) -> bool:
    """Whether the program stays the same if an operation of a loop runs once, before the loop.

    Three questions decide. May the operation run once instead of in each round? May it run even if the loop does not?
    If not, does the loop run, and leave memory as it is, so that nothing can happen before the operation's turn?
    """
    # [task 9.6] `effects.py` answers most of these questions, `certainly_runs` one. Terminators stay. Of an `scf.while`
    # nobody knows whether it runs; and it may change memory in any case.
    stays = operation.name in TERMINATORS or effects(operation) & WRITES
    return not stays and (may_speculate(operation) or (not may_change_memory(loop) and certainly_runs(loop)))
    # [end]


def certainly_runs(loop: Operation) -> bool:
    """Whether the bounds of an `scf.for` are known, and it runs at least once."""
    # [task 9.6] `constant_of` gives a number, or None if it is not known.
    lower, upper = (constant_of(bound) for bound in loop.operands[:2])
    return lower is not None and upper is not None and lower < upper
    # [end]
