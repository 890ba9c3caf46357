"""A rewrite of TTIR for threads: divisions of integers leave loops, too. (Given.)

Loop-invariant code motion leaves a division in a loop that may not run, because the divisor may be zero. On a GPU, a
division by zero has some result, which nobody needs. A kernel that computes `rows % M` in its loop over K has such a
division. Other invariant operations stay in loops without divisions: hoisted, they only need registers.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import traits
from mini_triton.transforms.licm import is_invariant
from mini_triton.transforms.structure import LOOPS, blocks_of, move

DIVISIONS = {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui"}


def hoist_divisions(module: Operation) -> None:
    """Move the invariant operations of each loop with a division out of the loop."""
    for loop in reversed([operation for operation in module.walk() if operation.name in LOOPS]):
        operations = [operation for block in blocks_of(loop) for operation in block.operations]
        if any(operation.name in DIVISIONS for operation in operations):
            for operation in operations:
                if traits(operation).pure and is_invariant(operation, loop):
                    move(operation, loop)
