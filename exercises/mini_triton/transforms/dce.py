"""Dead-code elimination: operations and values that nothing needs are erased.

An operation is live if it writes, or if a live operation uses its results. A carried value is not live if its only
purpose is to compute its own next value. Therefore, the pass does not search for dead code: it marks live code,
beginning with the operations that write, and erases everything that is not marked.

Source: MLIR's `RemoveDeadValues.cpp`; Appel, "Modern Compiler Implementation", 19.3: aggressive dead-code elimination.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from mini_triton.analysis.effects import WRITES, own_effects
from mini_triton.ir.core import Block, BlockArgument, Operation, OpResult, Value
from mini_triton.transforms.structure import STRUCTURED, blocks_of, source_of, terminator


class Liveness:
    """The live operations and values of a module."""

    def __init__(self, module: Operation) -> None:
        self.operations: set[Operation] = {module}
        self.values: set[Value] = set()
        self.waiting: list[OpResult | BlockArgument] = []
        for operation in module.walk():
            if own_effects(operation) & WRITES or operation.name == "tt.func":
                self.keep(operation)
        while self.waiting:
            self.trace(self.waiting.pop())

    def keep(self, operation: Operation) -> None:
        """Mark an operation as live, and all operations and operands without which it could not run."""
        # Task 9.5: A `tt.store` in an `scf.if` keeps the `scf.if` and its condition live. Which operation in each of
        # its blocks must a live operation keep? Given: `self.read`, which marks values; `needs`, below.
        raise NotImplementedError("Task 9.5: Dead code")

    def read(self, values: Iterable[Value]) -> None:
        """Mark values as live; their sources are traced later. (Given.)"""
        for value in values:
            assert isinstance(value, OpResult | BlockArgument)
            if value not in self.values:
                self.values.add(value)
                self.waiting.append(value)

    def trace(self, value: OpResult | BlockArgument) -> None:
        """Mark the operation that defines a live value, and the values that the operation may pass on as this value."""
        # Task 9.5: For a result of an `addi`, mark the `addi`. For a carried value, mark its loop, and the values that
        # it may equal. Given: `source_of`, `passed_on`, `self.read`.
        raise NotImplementedError("Task 9.5: Dead code")


def needs(operation: Operation) -> Sequence[Value]:
    """The operands that an operation needs in order to run, excluding operands that it merely passes on.

    A `tt.store` needs all operands.
    """
    # Task 9.5: `scf.for`, `scf.while`, `scf.yield` and `scf.condition` do not need all of their operands. Which of
    # these operands decide what runs?
    raise NotImplementedError("Task 9.5: Dead code")


def passed_on(operation: Operation, value: OpResult | BlockArgument) -> Iterator[Value]:
    """The values that an operation passes on as `value`, a result of the operation or an argument of its blocks.

    In `%r = scf.for %i = … iter_args(%x = %init) { … scf.yield %y }`, each of %r and %x is either %init or %y. No value
    is passed on as %i. An `scf.if` and an `scf.while` also pass on values. Other operations pass on nothing.
    """
    # Task 9.5: An `scf.while` passes on values in four ways: twice to arguments of its first block, once to arguments
    # of its second block, and once to its results.
    raise NotImplementedError("Task 9.5: Dead code")


def eliminate_dead_code(module: Operation) -> bool:
    """Erase all dead operations, results and carried values; return whether there were any. (Given.)"""
    live = Liveness(module)
    structured = [o for o in module.walk() if o.name in STRUCTURED and o in live.operations]
    arguments = [kept for operation in structured for kept in pass_on_less(operation, live)]
    dead = [operation for operation in module.walk() if operation not in live.operations]
    for operation in reversed(dead):  # users before the operations that they use
        if operation.parent_op in live.operations:
            operation.erase()
    for block, kept in arguments:
        block.arguments = kept
        for index, argument in enumerate(kept):
            argument.index = index
    return bool(dead)


def pass_on_less(operation: Operation, live: Liveness) -> list[tuple[Block, list[BlockArgument]]]:
    """Remove dead results, carried values and yielded values from a structured operation. (Given.)

    Returns each block with the arguments that it will keep. Dead operations still use the other arguments, so the
    caller erases the dead operations first.
    """
    blocks = [region.block for region in operation.regions if region.blocks]
    results = [result in live.values for result in operation.results]
    arguments = [[argument in live.values for argument in block.arguments] for block in blocks]
    yielded = [results] * len(blocks)
    operands = [True] * len(operation.operands)
    if operation.name == "scf.for":
        results = [a or b for a, b in zip(results, arguments[0][1:], strict=True)]
        arguments, yielded, operands = [[True, *results]], [results], [True, True, True, *results]
    elif operation.name == "scf.while":
        operands, forwarded = arguments
        results = [a or b for a, b in zip(results, forwarded, strict=True)]
        arguments, yielded = [operands, results], [[True, *results], operands]
    if all(map(all, (results, operands, *arguments))):
        return []
    for block, wanted in zip(blocks, yielded, strict=True):
        end = terminator(block)
        values = list(itertools.compress(end.operands, wanted))
        live.operations.add(block.append(Operation(end.name, values, attributes=end.attributes, loc=end.loc)))
        end.erase()
    kept = list(itertools.compress(operation.results, results))
    values = list(itertools.compress(operation.operands, operands))
    types = [result.type for result in kept]
    smaller = Operation(operation.name, values, types, operation.attributes, operation.regions, operation.loc)
    operation.regions = []
    assert operation.parent is not None
    operation.parent.insert(operation.parent.operations.index(operation), smaller)
    for old, new in zip(kept, smaller.results, strict=True):
        new.name = old.name
        old.replace_all_uses_with(new)
    live.operations.remove(operation)
    live.operations.add(smaller)
    return [
        (block, list(itertools.compress(block.arguments, mask))) for block, mask in zip(blocks, arguments, strict=True)
    ]
