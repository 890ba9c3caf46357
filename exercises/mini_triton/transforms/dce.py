"""Dead code: what nobody reads goes, and what never runs.

An operation is alive if it writes, or if one that is alive uses its results. A value that a loop carries is alive only
if someone reads it, not if it is only there to compute its own next value. So one looks for what is alive, beginning
with what writes; whatever is not found goes.

Control flow that is known beforehand goes first: branches whose condition is constant, loops of one round or none, and
carried values that never change.

Source: MLIR's `RemoveDeadValues.cpp`, and the canonicalization in its `SCF.cpp`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Block, BlockArgument, Operation, OpResult, Region, Value
from mini_triton.transforms.effects import COMBINING, WRITES, is_inside, own_effects
from mini_triton.transforms.rewriting import Match, constant_of, match, parse

STRUCTURED = ("scf.for", "scf.if", "scf.while")


def eliminate_dead_code(module: Operation) -> bool:
    """Remove what has no effect; whether there was any. (Given.)"""
    changed = False
    while any([turn_branches(module), replace_known(module), unwrap_known(module), sweep(module)]):
        changed = True
    return changed


# --- control flow that is known


def unwrap_known(module: Operation) -> bool:
    """Replace branches and loops, of which one knows what runs, by that; whether there were any."""
    # Task 9.5: `splice` puts the operations of a block in the place of the operation that holds it. Inner ones first:
    # the outer one may take them with it.
    raise NotImplementedError("Task 9.5: Dead code")


def count_rounds(loop: Operation) -> int | None:
    """How often an `scf.for` runs; None if its bounds are not known."""
    # Task 9.5: No step is needed to know of a loop that it does not run.
    raise NotImplementedError("Task 9.5: Dead code")


def splice(operation: Operation, block: Block | None, arguments: Sequence[Value]) -> None:
    """Put what a block does, with these arguments, in the place of the operation that holds it. (Given.)"""
    yielded: Sequence[Value] = ()
    if block is not None:
        assert operation.parent is not None and block.terminator is not None
        for argument, value in zip(block.arguments, arguments, strict=True):
            argument.replace_all_uses_with(value)
        yielded = block.terminator.operands
        block.terminator.erase()
        for inner in list(block.operations):
            inner.parent = None
            operation.parent.insert(operation.parent.operations.index(operation), inner)
        block.operations.clear()
    replace_by(operation, yielded)


def replace_by(operation: Operation, values: Sequence[Value]) -> None:
    """Let these values take the place of an operation's results, and erase it. (Given.)"""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()


# --- values that are known


def replace_known(module: Operation) -> bool:
    """Use, for a value that control flow only passes on, the value that it always is; whether there were any.

    A carried value of an `scf.for` that is yielded as it is, or as it was initially, is its initial value. If a loop
    runs, and yields a value from outside, that is the result. A result of an `scf.if` that both branches yield is what
    they yield. Inside of a branch, the condition is true or false.
    """
    # Task 9.5: Only values that are used count: then nothing is found twice. A branch may be missing.
    raise NotImplementedError("Task 9.5: Dead code")


def assume_condition(branch: Operation) -> bool:
    """Use true or false for the condition of an `scf.if` inside of its branches; whether it was used there. (Given.)"""
    (condition,) = branch.operands
    builder = Builder()
    changed = False
    for region, truth in zip(branch.regions, (True, False), strict=True):
        for use in [use for use in condition.uses if use.user is not branch and is_within(use.user, region)]:
            with builder.before(region.block.operations[0]):
                use.user.set_operand(use.number, builder.constant(truth, condition.type))
            changed = True
    return changed


def is_within(operation: Operation, region: Region) -> bool:
    """Whether an operation is in a region, or deeper. (Given.)"""
    block = operation.parent
    while block is not None and block.parent is not None:
        if block.parent is region:
            return True
        holder = block.parent.parent
        block = holder.parent if holder else None
    return False


def terminator(block: Block) -> Operation:
    """The last operation of a block that has one. (Given.)"""
    assert block.terminator is not None
    return block.terminator


def turn_branches(module: Operation) -> bool:
    """Swap the branches of each `scf.if` whose condition is the opposite of another value; whether there were any."""
    changed = False
    for branch in module.walk():
        if branch.name == "scf.if" and (plain := opposite(branch.operands[0])) and branch.regions[1].blocks:
            branch.regions.reverse()
            branch.set_operand(0, plain)
            changed = True
    return changed


def opposite(condition: Value) -> Value | None:
    """The value that a condition is the opposite of: `x` of `arith.xori(x, true)`. (Given.)"""
    found: Match = {}
    return found["x"] if match(parse("arith.xori(x, true)"), condition, found) else None


# --- values and operations that are dead


class Liveness:
    """Which operations and values of a module matter."""

    def __init__(self, module: Operation) -> None:
        self.operations: set[Operation] = {module}
        self.values: set[Value] = set()
        self.waiting: list[Value] = []
        for operation in module.walk():
            if own_effects(operation) & WRITES or operation.name in ("tt.func", "tt.return"):
                self.keep(operation)
        while self.waiting:
            self.trace(self.waiting.pop())

    def keep(self, operation: Operation) -> None:
        """An operation matters: so does the one around it, and what it needs in order to run."""
        # Task 9.5: `needs` says which operands these are; `read` marks a value.
        raise NotImplementedError("Task 9.5: Dead code")

    def read(self, *values: Value) -> None:
        """Values matter: what they come from is traced later. (Given.)"""
        self.waiting += [value for value in values if value not in self.values]
        self.values.update(values)

    def trace(self, value: Value) -> None:
        """A value matters: so does the operation that defines it, and what that passes on as this value."""
        # Task 9.5: `passed_on` says which values these are.
        raise NotImplementedError("Task 9.5: Dead code")


def needs(operation: Operation) -> Sequence[Value]:
    """The values that an operation needs to run at all, not only to pass them on. (Given.)"""
    if operation.name == "scf.for":
        return operation.operands[:3]
    if operation.name == "scf.while":
        return terminator(operation.regions[0].block).operands[:1]
    return operation.operands


def passed_on(operation: Operation, value: OpResult | BlockArgument) -> Iterator[Value]:
    """The values that structured control flow passes on as this one: to a result or to an argument of a block."""
    # Task 9.5: Initial values, and what a region yields. The first argument of a `for` is not carried.
    raise NotImplementedError("Task 9.5: Dead code")


def holder_of(value: Value) -> Operation | None:
    """The operation that holds the block of an argument. (Given.)"""
    block = value.parent_block
    return block.parent.parent if block and block.parent else None


def sweep(module: Operation) -> bool:
    """Erase all operations, results and carried values that do not matter; whether there were any. (Given.)"""
    live = Liveness(module)
    structured = [o for o in module.walk() if o.name in STRUCTURED and o in live.operations]
    arguments = [kept for operation in structured for kept in pass_on_less(operation, live)]
    dead = [operation for operation in module.walk() if operation not in live.operations]
    for operation in reversed(dead):  # users come before what they use
        if operation.parent_op in live.operations:
            operation.erase()
    for block, kept in arguments:
        block.arguments = kept
        for index, argument in enumerate(kept):
            argument.index = index
    return bool(dead)


def pass_on_less(operation: Operation, live: Liveness) -> list[tuple[Block, list[BlockArgument]]]:
    """Let structured control flow yield, carry and result in what matters only. (Given.)

    Returns the arguments that its blocks will keep once the dead operations, which still use the others, are erased.
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
