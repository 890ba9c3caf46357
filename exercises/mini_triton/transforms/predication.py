"""Predication: a small `scf.if` becomes selects.

Both branches run, and each result is selected. A GPU has no branch then, at which threads wait for each other, and
generated NumPy no masks. It is cheaper for a few cheap operations, and for nothing else; and it is right only for
operations that do no harm where the program would not run them: never for loads, which the branch may protect.

Source: `ConvertTrivialIfToSelect` in MLIR's `SCF.cpp`; LLVM's `SpeculativelyExecuteBB` in `SimplifyCFG.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.elementwise import TABLE
from mini_triton.ir.types import TensorType
from mini_triton.transforms.structure import blocks_of, move, replace_by, terminator

BUDGET = 4
"""So many operations may run in vain."""
# Selects are among the slow ones so that branches inside of branches do not all become selects.
SLOW = ("arith.div", "arith.rem", "arith.floordiv", "arith.ceildiv", "math.", "tt.precise", "tt.extern", "arith.select")


def predicate_branches(module: Operation) -> bool:
    """Replace each `scf.if` that is worth it by its operations and selects; whether there were any. (Given.)"""
    found = [
        operation for operation in reversed([*module.walk()]) if operation.name == "scf.if" and is_worth_it(operation)
    ]
    for branch in found:
        predicate(branch)
    return bool(found)


def is_worth_it(branch: Operation) -> bool:
    """Whether an `scf.if` has results, and running both of its branches costs little and does no harm.

    Constants cost nothing. Of other operations there are at most `BUDGET` in both branches together, and each of them
    `is_cheap`. Terminators do not run.
    """
    # Task 9.9: A branch with results has an `else`.
    raise NotImplementedError("Task 9.9: Known control flow, and predication")


def is_cheap(operation: Operation) -> bool:
    """Whether an operation takes one fast instruction: it is elementwise, and on scalars. (Given.)

    Such an operation does no harm either, as it touches no memory and does not divide.
    """
    return (
        operation.name in (*TABLE, "tt.addptr")
        and not operation.name.startswith(SLOW)
        and not isinstance(operation.result.type, TensorType)
    )


def predicate(branch: Operation) -> None:
    """Run what both branches of an `scf.if` do, in its place, and select each result."""
    # Task 9.9: `move` and `replace_by` do the moving. Where both branches yield one value, no select is needed.
    raise NotImplementedError("Task 9.9: Known control flow, and predication")
