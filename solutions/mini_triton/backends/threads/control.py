"""Control flow: loops and branches, which all threads of a program take together.

A value that a loop carries, or that a branch yields, has a register of its own in each thread, for each element. A
block ends with copies into these registers, all at once (`assign`). `make_room` gives values such registers, and
`alias` gives one value the registers of another. The layouts are chosen before (`choice.carry`).

A label is an instruction of its own, `threads.do("label", name)`; `threads.label()` returns a new name. A branch is
`threads.do("bra", name)`, with a guard if it has a condition.

A block's instructions are collected in a list of their own (`nested`, or `body`), which becomes part of the code by
`threads.add`. While they are collected, a value from outside may be needed for the first time; its instructions go to
the list of its own level.

A loop is the code from a label to a branch back to it, and is entered only at this label, because the pass in
`hoisting.py` puts instructions before the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mini_triton.backends.threads.instructions import Instruction, Register, kind_of, width_of
from mini_triton.backends.threads.layouts import SCALAR
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Block, Operation, Value


def make_room(threads: Threads, values: Iterable[Value]) -> None:
    """Give carried values registers."""
    for value in values:
        layout = threads.choice.carried[value]
        threads.hold(value, layout, {number: threads.new(kind_of(value.type)) for number in layout.distinct})


def alias(threads: Threads, values: Sequence[Value], others: Sequence[Value]) -> None:
    """Keep values in the registers of others."""
    for value, other in zip(values, others, strict=True):
        layout = threads.homes[other]
        threads.hold(value, layout, dict(threads.registers[other, layout]))


def assign(threads: Threads, targets: Sequence[Value], sources: Sequence[Value]) -> None:
    """Copy values into the registers of other values, all at once: every register is read before one is written.

    The targets are held; a source is taken in the layout of its target. There are no needless copies: none from a
    register to itself, and a value goes through another register only if its own is overwritten. Here, a, b and c are
    held in %r0, %r1 and %r2:

        assign(threads, [a, b], [a, c])        mov.b32 %r1, %r2;
        assign(threads, [a, b], [b, a])        at most four copies
    """
    # [task 13.8] Copy the registers.
    copies: list[tuple[Register, Register]] = []
    for value, wanted in zip(targets, sources, strict=True):
        layout = threads.homes[value]
        for number in layout.distinct:
            copies.append((threads.registers[value, layout][number], threads.register(wanted, layout, number)))
    copies = [(target, source) for target, source in copies if target != source]
    written = {target for target, _ in copies}
    spares = {source: threads.new(source.kind) for _, source in copies if source in written}
    for source, spare in spares.items():
        threads.copy(spare, source)
    for target, source in copies:
        threads.copy(target, spares.get(source, source))
    # [end]


def body(threads: Threads, block: Block, targets: Sequence[Value], operands: Sequence[Value]) -> list[Instruction]:
    """The instructions of a block, whose terminator passes operands to other values."""
    with threads.nested(block) as instructions:
        threads.block(block)
        assign(threads, targets, operands)
    return instructions


def terminator(block: Block) -> Operation:
    """The last operation of a block."""
    return block.operations[-1]


@rule(ANCHORED, "scf.for")
def for_loop(threads: Threads, operation: Operation) -> None:
    """A loop from `lower` in steps of `step`, which is positive, while the counter is less than `upper`; all signed.

    The block's arguments are the counter and the carried values, which begin as the other operands; its terminator has
    their next values. After the loop, they are the operation's results. The condition is tested before the first
    iteration and at the end of each, so an iteration takes one branch. The sum of counter and step never overflows.
    """
    # [task 13.8] Emit the loop.
    lower, upper, step, *initial = operation.operands
    block = operation.regions[0].block
    counter, *carried = block.arguments
    make_room(threads, carried)
    assign(threads, carried, initial)
    count = threads.new(kind_of(counter.type))
    threads.copy(count, threads.register(lower))
    threads.hold(counter, SCALAR, {0: count})
    limit, stride = threads.register(upper), threads.register(step)
    type = f"s{max(16, width_of(counter.type))}"
    with threads.nested(block) as instructions:
        threads.block(block)
        assign(threads, carried, terminator(block).operands)
        threads.do(f"add.{type}", count, stride, results=(count,))
        goes_on = threads.op(f"setp.lt.{type}", count, limit)
    head, end = threads.label(), threads.label()
    threads.do("bra", end, guard=threads.op(f"setp.ge.{type}", count, limit))
    threads.do("label", head)
    threads.add(instructions)
    threads.do("bra", head, guard=goes_on)
    threads.do("label", end)
    alias(threads, operation.results, carried)
    # [end]


@rule(ANCHORED, "scf.if")
def branch(threads: Threads, operation: Operation) -> None:
    """Run the first block if the operand is true, otherwise the second, if there is one.

    The operands of the block's terminator are the operation's results. No thread runs instructions of the other block.
    Without a second block, the second region, if there is one, has no `blocks`.
    """
    # [task 13.8] Emit the branch.
    make_room(threads, operation.results)
    (wanted,) = operation.operands
    condition = threads.register(wanted)
    blocks = [region.block for region in operation.regions if region.blocks]
    first, *second = (body(threads, block, operation.results, terminator(block).operands) for block in blocks)
    other, end = threads.label(), threads.label()
    threads.do("bra", other, guard=condition, negated=True)
    threads.add(first)
    if second:
        threads.do("bra", end)
    threads.do("label", other)
    if second:
        threads.add(second[0])
        threads.do("label", end)
    # [end]


@rule(ANCHORED, "scf.while")
def while_loop(threads: Threads, operation: Operation) -> None:
    """Run the first block; while its condition holds, run the second block, then the first again.

    The first block's arguments begin as the operation's operands; the second block's terminator has their next values.
    The first block's terminator has the condition, then values that are the second block's arguments if the condition
    holds, and the operation's results if not.
    """
    # [task 13.8] Emit the loop.
    before, after = (region.block for region in operation.regions)
    make_room(threads, before.arguments)
    make_room(threads, operation.results)
    assign(threads, before.arguments, operation.operands)
    condition, *forwarded = terminator(before).operands
    with threads.nested(before) as first:
        threads.block(before)
        goes_on = threads.register(condition)
        assign(threads, operation.results, forwarded)
    alias(threads, after.arguments, operation.results)
    second = body(threads, after, before.arguments, terminator(after).operands)
    head, end = threads.label(), threads.label()
    threads.do("label", head)
    threads.add(first)
    threads.do("bra", end, guard=goes_on, negated=True)
    threads.add(second)
    threads.do("bra", head)
    threads.do("label", end)
    # [end]


@rule(ANCHORED, "gpu.barrier")
def barrier(threads: Threads, operation: Operation) -> None:
    """All threads of the program wait for one another."""
    threads.do("bar.sync", 0)


@rule(ANCHORED, "llvm.intr.assume")
def assume(threads: Threads, operation: Operation) -> None:
    """A promise, which needs no instruction."""


@rule(ANCHORED, "tt.assert")
def check(threads: Threads, operation: Operation) -> None:
    """End the program where a condition is false."""
    (condition,) = operation.operands
    layout = threads.choice.of_value(condition)
    for register in threads.all_registers(condition, layout).values():
        threads.do("trap", guard=register, negated=True)
