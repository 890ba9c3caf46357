"""What an operation does beside computing its results. (Given.)

    effects(operation)     NOTHING, READS, WRITES, or READS | WRITES

An operation with regions does what the operations inside do. What has effects of another kind, such as `tt.print`,
counts as writing: it stays, and stays in order. A loop is taken to end.

Source: MLIR's "Side Effects & Speculation"; Triton's `TritonOps.td`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.ops.definition import definition

NOTHING, READS, WRITES = 0, 1, 2
"""What happens to memory: a set, as the bits of a number."""
COMBINING = ("tt.reduce", "tt.scan")
TERMINATORS = ("scf.yield", "scf.condition", "tt.return", "tt.reduce.return", "tt.scan.return")
WITHOUT = ("scf.for", "scf.while", "scf.if", *COMBINING, *TERMINATORS, "tt.cat")
"""Operations without effects of their own, though their declarations do not say so."""


def effects(operation: Operation) -> int:
    """The effects of an operation and of all inside it."""
    found = own_effects(operation)
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                found |= effects(inner)
    return found


def own_effects(operation: Operation) -> int:
    """The effects of an operation without those of operations inside it."""
    if operation.name == "tt.load" and not operation.attributes.get("isVolatile"):
        return READS
    declared = definition(operation.name)
    pure = operation.attributes.get("pure", declared is not None and declared.pure)
    return NOTHING if pure or operation.name in WITHOUT else READS | WRITES


def is_dead(operation: Operation) -> bool:
    """Whether nothing changes without it: nobody uses its results, and it writes nothing."""
    return (
        not any(result.uses for result in operation.results)
        and operation.name not in TERMINATORS
        and not effects(operation) & WRITES
    )


def is_inside(value: Value, operation: Operation) -> bool:
    """Whether a value is defined in a block of an operation, or deeper."""
    block = value.parent_block
    while block is not None and block.parent is not None:
        holder = block.parent.parent
        if holder is operation:
            return True
        block = holder.parent if holder else None
    return False
