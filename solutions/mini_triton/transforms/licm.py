"""Loop-invariant code motion: operations with the same result in each iteration move out of the loop.

Source: MLIR's `LoopInvariantCodeMotionUtils.cpp`; Triton's `LoopInvariantCodeMotion.cpp`.
"""

from __future__ import annotations

from mini_triton.analysis.effects import TERMINATORS, WRITES, effects, may_change_memory, may_speculate
from mini_triton.ir.core import Operation
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import LOOPS, blocks_of, is_inside, move


def hoist_invariants(module: Operation) -> bool:
    """Move invariant operations out of as many loops as possible; return whether any operation moved."""
    # [task 9.6] An operation that depends on neither of two nested loops leaves both loops, in one run. Given:
    # `hoist_from`, which handles one loop.
    loops = [operation for operation in module.walk() if operation.name in LOOPS]
    return any([hoist_from(loop) for loop in reversed(loops)])
    # [end]


def hoist_from(loop: Operation) -> bool:
    """Move invariant operations of one loop to just before the loop, in order; return whether any moved.

    Only operations that may be hoisted move. They must be directly in the loop's blocks; their regions move with them.
    """
    # [task 9.6] In `x = a * b; y = x + 1; z = y + i`, where `i` is the induction variable, `x` and `y` move. Given:
    # `may_hoist`, `is_invariant`, below; `move(operation, loop)`, which moves an operation to just before the loop.
    hoisted = False
    for block in blocks_of(loop):
        for operation in list(block.operations):
            if may_hoist(operation, loop) and is_invariant(operation, loop):
                move(operation, loop)
                hoisted = True
    return hoisted
    # [end]


def is_invariant(operation: Operation, loop: Operation) -> bool:
    """Whether an operation uses only values from outside the loop.

    The operations inside it may also use values that are defined inside it.
    """
    # [task 9.6] An `scf.if` that computes with invariant values only is invariant, whatever its branches define.
    # Given: `is_inside(value, loop)`.
    used = [operand for inner in operation.walk() for operand in inner.operands]
    return not any(is_inside(value, loop) and not is_inside(value, operation) for value in used)
    # [end]


def may_hoist(operation: Operation, loop: Operation) -> bool:
    """Whether a program's results stay the same if an invariant operation of a loop runs once, before the loop.

    The loop is an `scf.for`, or an `scf.while`, whose second block may never run.
    """
    # [task 9.6] An `addi` may move; a `tt.store` may not, and terminators stay. Which operations may move even if the
    # loop does not run? What must be certain about the loop before a `tt.load` may move? Given: `effects.py`;
    # `certainly_runs`, below, which judges only an `scf.for`.
    stays = operation.name in TERMINATORS or effects(operation) & WRITES
    return not stays and (may_speculate(operation) or (not may_change_memory(loop) and certainly_runs(loop)))
    # [end]


def certainly_runs(loop: Operation) -> bool:
    """Whether the bounds of an `scf.for` are constants, and the loop runs at least once.

    The step does not matter, because a step below 1 has no meaning.
    """
    # [task 9.6] Return True for a loop from 0 to 4, and False for loops from 0 to %n and from 4 to 4. Given:
    # `constant_of`, which returns a number or None.
    lower, upper = (constant_of(bound) for bound in loop.operands[:2])
    return lower is not None and upper is not None and lower < upper
    # [end]
