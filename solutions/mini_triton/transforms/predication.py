"""Predication: a small `scf.if` becomes selects.

Both branches run, and each result is selected. A GPU has no branch then, at which threads wait for each other, and
generated NumPy no masks. It is cheaper for a few cheap operations without effects, and for nothing else: never for
loads, which the branch may protect.

Source: `ConvertTrivialIfToSelect` in MLIR's `SCF.cpp`; LLVM's `SpeculativelyExecuteBB` in `SimplifyCFG.cpp`.
"""

from __future__ import annotations

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.elementwise import TABLE
from mini_triton.ir.types import TensorType
from mini_triton.transforms.dce import terminator

BUDGET = 4
"""Operations on scalars that may run in vain."""
SLOW = ("arith.div", "arith.rem", "arith.floordiv", "arith.ceildiv", "math.", "tt.precise", "tt.extern", "arith.select")


def predicate_branches(module: Operation) -> bool:
    """Replace each `scf.if` whose branches are cheap by its operations and a select for each result."""
    cheap = [
        operation for operation in reversed([*module.walk()]) if operation.name == "scf.if" and is_cheap(operation)
    ]
    for branch in cheap:
        predicate(branch)
    return bool(cheap)


def is_cheap(branch: Operation) -> bool:
    """Whether it costs little to run both branches of an `scf.if` with results.

    Only constants, and a few operations on scalars that the table of elementwise operations has.
    """
    if not branch.results:
        return False
    inside = [operation for region in branch.regions for operation in region.block.operations[:-1]]
    work = [operation for operation in inside if operation.name != "arith.constant"]
    return len(work) <= BUDGET and all(is_cheap_alone(operation) for operation in work)


def is_cheap_alone(operation: Operation) -> bool:
    """Whether an operation takes one fast instruction."""
    return (
        operation.name in (*TABLE, "tt.addptr")
        and not operation.name.startswith(SLOW)
        and not isinstance(operation.result.type, TensorType)
    )


def predicate(branch: Operation) -> None:
    """Run both branches of an `scf.if`, and select."""
    (condition,) = branch.operands
    ends = [terminator(region.block) for region in branch.regions]
    assert branch.parent is not None
    for block in (region.block for region in branch.regions):
        for operation in block.operations[:-1]:
            block.operations.remove(operation)
            operation.parent = None
            branch.parent.insert(branch.parent.operations.index(branch), operation)
    builder = Builder()
    with builder.before(branch), builder.location(branch.loc):
        for result, one, other in zip(branch.results, ends[0].operands, ends[1].operands, strict=True):
            selected = one if one is other else builder.create("arith.select", condition, one, other)
            selected.name = selected.name or result.name
            result.replace_all_uses_with(selected)
    branch.erase()
