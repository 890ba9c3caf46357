"""Common subexpressions: each value is computed once.

Two operations compute the same if they have the same name, operands, attributes, result types and regions. The second
one goes, if the first is visible there: each block adds to the table of what is known, and at its end takes its own
additions away. Loads are the same only if nothing was written between them: the number of writes so far is part of what
is compared.

Source: MLIR's `lib/Transforms/CSE.cpp`.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable

from mini_triton.ir.core import Attribute, Block, Operation, Value
from mini_triton.transforms.effects import WRITES, effects, may_change_memory
from mini_triton.transforms.peepholes import COMMUTATIVE
from mini_triton.transforms.structure import LOOPS, blocks_of

Numbers = dict[Value, int]


def key_of(operation: Operation, inside: Numbers) -> Hashable:
    """What two operations have in common if they compute the same, and only then.

        %x = arith.addi %a, %b : i32        one key
        %y = arith.addi %b, %a : i32        the same one
        %z = arith.addi %a, %a : i32        another one

    Values that are defined in an outer operation under comparison have numbers, in `inside`. Others are compared by
    their identity.
    """
    # [task 9.4] Operands of `COMMUTATIVE` operations have no order. `bits` tells attributes apart, `contents` regions.
    operands = [inside.get(operand, id(operand)) for operand in operation.operands]
    return (
        operation.name,
        tuple(sorted(operands) if operation.name in COMMUTATIVE else operands),
        tuple(sorted((name, bits(value)) for name, value in operation.attributes.items())),
        tuple(result.type for result in operation.results),
        contents(operation, inside) if operation.regions else (),
    )
    # [end]


def contents(operation: Operation, inside: Numbers) -> Hashable:
    """What the regions of two operations have in common if they compute the same.

    The bodies of two sums are equal, though each adds arguments of its own: the first to the second one.
    """
    # [task 9.4] `number` gives the next numbers to values. Operations in a block come in order, and each has a key.
    found: list[Hashable] = []
    for block in blocks_of(operation):
        number(block.arguments, inside)
        for inner in block.operations:
            found.append(key_of(inner, inside))
            number(inner.results, inside)
    return tuple(found)
    # [end]


def number(values: Iterable[Value], inside: Numbers) -> None:
    """Give these values the next numbers, which are no identities. (Given.)"""
    for value in values:
        inside[value] = -1 - len(inside)


def bits(attribute: Attribute) -> str:
    """A text for an attribute. It tells 0.0 from -0.0, and 1 from True. (Given.)"""
    return struct.pack(">d", attribute).hex() if isinstance(attribute, float) else repr(attribute)


class Merger:
    """Merges what is equal in a function."""

    def __init__(self) -> None:
        self.known: dict[Hashable, Operation] = {}  # what is computed, and visible where the merger is
        self.writes = 0  # so far: memory may have changed so often
        self.changed = False

    def merge(self, block: Block) -> None:
        """Merge what is equal in a block and in the regions inside it, also with what is known from around it.

        Of two equal operations the first one stays. All that write stay.
        """
        # [task 9.4] What a block adds to `known` holds until its end. Of a load, know also how often memory may have
        # changed: look at `may_change_memory`, and at what the second round of a loop finds.
        added: list[Hashable] = []
        for operation in list(block.operations):
            self.writes += operation.name in LOOPS and may_change_memory(operation)
            for inner in blocks_of(operation):
                self.merge(inner)
            touched = effects(operation)
            self.writes += bool(touched & WRITES)  # so that no two operations that write are equal
            key: Hashable = (key_of(operation, {}), self.writes if touched else None)
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
    """Remove operations whose results another one has computed already; whether there were any. (Given.)"""
    merger = Merger()
    for function in module.regions[0].block.operations:
        merger.merge(function.regions[0].block)
    return merger.changed
