"""Loop-invariant code motion: operations with the same result in each iteration of a loop move in front of the loop.

Source: MLIR's `LoopInvariantCodeMotionUtils.cpp`; Triton's `LoopInvariantCodeMotion.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation
from mini_triton.transforms.effects import TERMINATORS, WRITES, effects, may_change_memory, may_speculate
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import LOOPS, blocks_of, is_inside, move


def hoist_invariants(module: Operation) -> bool:
    """Move invariant operations out of all loops, as far out as possible; return whether any moved."""
    # [task 9.6] An operation that depends on neither of two nested loops leaves both. Given: `hoist_from` handles one
    # loop.
    loops = [operation for operation in module.walk() if operation.name in LOOPS]
    return any([hoist_from(loop) for loop in reversed(loops)])
    # [end]


def hoist_from(loop: Operation) -> bool:
    """Move the invariant operations of one loop in front of it, in order; return whether any moved.

    Only operations directly in the loop's blocks move, together with their regions.
    """
    # [task 9.6] In `x = a * b; y = x + 1; z = y + i`, where `i` is the induction variable, `x` and `y` move. Given:
    # `may_hoist`, `is_invariant`, below; `move(operation, loop)` moves an operation in front of the loop.
    hoisted = False
    for block in blocks_of(loop):
        for operation in list(block.operations):
            if may_hoist(operation, loop) and is_invariant(operation, loop):
                move(operation, loop)
                hoisted = True
    return hoisted
    # [end]


def is_invariant(operation: Operation, loop: Operation) -> bool:
    """Whether every operand of an operation, and of the operations inside it, is defined outside the loop."""
    # [task 9.6] An `scf.if` of invariant values is invariant, whatever its branches define. Given: `is_inside(value,
    # loop)`.
    used = [operand for inner in operation.walk() for operand in inner.operands]
    return not any(is_inside(value, loop) and not is_inside(value, operation) for value in used)
    # [end]


def may_hoist(operation: Operation, loop: Operation) -> bool:
    """Whether the program stays the same if an operation of a loop runs once, before the loop.

    Three questions decide. May the operation run once instead of in each iteration? May it run although the loop does
    not? If not: does the loop certainly run, and does it leave memory unchanged?
    """
    # [task 9.6] An `addi` may, a `tt.store` may not, a `tt.load` may in a loop that runs and does not write.
    # Terminators stay. It is unknown whether an `scf.while` runs; `may_change_memory` treats it as writing. Given:
    # `effects.py`.
    stays = operation.name in TERMINATORS or effects(operation) & WRITES
    return not stays and (may_speculate(operation) or (not may_change_memory(loop) and certainly_runs(loop)))
    # [end]


def certainly_runs(loop: Operation) -> bool:
    """Whether the bounds of an `scf.for` are known, and it runs at least once."""
    # [task 9.6] From 0 to 4: True; from 0 to %n: False; from 4 to 4: False. Given: `constant_of` is a number or None.
    lower, upper = (constant_of(bound) for bound in loop.operands[:2])
    return lower is not None and upper is not None and lower < upper
    # [end]
