"""Effects: what an operation does besides computing its results. (Given.)

    effects(operation)              NOTHING, READS, WRITES, or READS | WRITES
    may_change_memory(operation)    whether a load may read a different value after it than before it
    may_speculate(operation)        whether it is harmless where the original program does not run it

Each operation declares its own effects (`OpDefinition`); with regions, it also has those of the operations inside. All
other effects, such as those of `tt.print`, count as writes, so these operations stay, in order. A loop without effects
may be erased, even if it might never end.

Source: MLIR's "Side Effects & Speculation"; Triton's `TritonOps.td`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation, OpResult
from mini_triton.ir.interpreter import TERMINATORS
from mini_triton.ir.ops.definition import NOTHING, READS, WRITES, traits


def effects(operation: Operation) -> int:
    """The effects of an operation and of all operations inside it."""
    found = own_effects(operation)
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                if found == READS | WRITES:
                    return found  # no further effects exist
                found |= effects(inner)
    return found


def own_effects(operation: Operation) -> int:
    """The effects of an operation without those of operations inside it."""
    declared = traits(operation)
    if operation.attributes.get("isVolatile"):
        return READS | WRITES
    if operation.attributes.get("pure", declared.pure) or declared.terminator:
        return NOTHING
    return declared.effects


def is_dead(operation: Operation) -> bool:
    """Whether erasing an operation changes nothing: its results have no uses, and it does not write."""
    return (
        not any(result.uses for result in operation.results)
        and operation.name not in TERMINATORS
        and not effects(operation) & WRITES
    )


def may_speculate(operation: Operation) -> bool:
    """Whether an operation is harmless where the original program does not run it.

    A load may be out of bounds, an integer division may divide by zero, and an `scf.while` may never end.
    """
    if effects(operation) != NOTHING:
        return False
    return not any(inner.name == "scf.while" or may_divide_by_zero(inner) for inner in operation.walk())


def may_divide_by_zero(operation: Operation) -> bool:
    """Whether an integer divisor may be 0 or -1: the least integer divided by -1 overflows."""
    if not traits(operation).divides:
        return False
    divisor = operation.operands[1]
    if not isinstance(divisor, OpResult) or divisor.owner.name != "arith.constant":
        return True
    return divisor.owner.attributes["value"] in (0, -1)


def may_change_memory(operation: Operation) -> bool:
    """Whether a load may read a different value after an operation than before it.

    An operation that writes changes memory, and an `scf.while` may wait until another program has written.
    """
    return bool(effects(operation) & WRITES) or any(inner.name == "scf.while" for inner in operation.walk())
