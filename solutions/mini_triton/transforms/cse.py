"""Common subexpressions: each value is computed once.

Two operations compute the same if they have the same name, operands, attributes, result types and regions. The second
one goes, if the first is visible there: each block adds to the table of what is known, and at its end takes its own
additions away. Loads are the same only if nothing was written between them: the number of writes so far is part of what
is compared.

Source: MLIR's `lib/Transforms/CSE.cpp`.
"""

from __future__ import annotations

from collections.abc import Hashable

from mini_triton.ir.core import Block, Operation, Value
from mini_triton.transforms.effects import READS, TERMINATORS, WRITES, effects
from mini_triton.transforms.peepholes import COMMUTATIVE

LOOPS = ("scf.for", "scf.while")


def key_of(operation: Operation, inside: dict[Value, int] | None = None) -> Hashable:
    """What two operations have in common that compute the same.

    Values that are defined `inside` of the operation are told apart by numbers, in order; others by their identity.
    """
    # [task 9.4] Operands of `COMMUTATIVE` operations have no order. Attributes are compared by their `repr`, which
    # tells 0.0 from -0.0.
    inside = {} if inside is None else inside
    operands = [inside.get(operand, id(operand)) for operand in operation.operands]
    contents: list[Hashable] = []
    for block in (block for region in operation.regions for block in region.blocks):
        inside.update((argument, -len(inside) - i) for i, argument in enumerate(block.arguments, 1))
        contents.append(tuple(argument.type for argument in block.arguments))
        for inner in block.operations:
            contents.append(key_of(inner, inside))
            inside.update((result, -len(inside) - i) for i, result in enumerate(inner.results, 1))
    return (
        operation.name,
        tuple(sorted(operands) if operation.name in COMMUTATIVE else operands),
        tuple(sorted((name, repr(value)) for name, value in operation.attributes.items())),
        tuple(result.type for result in operation.results),
        tuple(contents),
    )
    # [end]


class Merger:
    """Merges what is equal in a function."""

    def __init__(self) -> None:
        self.known: dict[Hashable, Operation] = {}  # what is computed, and visible where the merger is
        self.writes = 0
        self.changed = False

    def merge(self, block: Block) -> None:
        """Merge what is equal in a block, and what equals something known from around it."""
        # [task 9.4] Regions come before the operation that holds them. Count a write where one may have happened:
        # also before the first round of a loop, as its later rounds follow on them.
        added: list[Hashable] = []
        for operation in list(block.operations):
            touched = effects(operation)
            self.writes += operation.name in LOOPS and touched & WRITES > 0
            for region in operation.regions:
                for inner in region.blocks:
                    self.merge(inner)
            if touched & WRITES or operation.name in TERMINATORS:
                self.writes += 1
                continue
            key: Hashable = (key_of(operation), self.writes if touched & READS else None)
            if key in self.known:
                for mine, other in zip(operation.results, self.known[key].results, strict=True):
                    mine.replace_all_uses_with(other)
                operation.erase()
                self.changed = True
            else:
                self.known[key] = operation
                added.append(key)
        for key in added:
            del self.known[key]
        # [end]


def merge_equal(module: Operation) -> bool:
    """Remove operations whose results another one has computed already; whether there were any."""
    merger = Merger()
    for function in module.regions[0].block.operations:
        merger.merge(function.regions[0].block)
    return merger.changed
