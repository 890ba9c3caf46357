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
    # Task 13.8: Copy the registers.
    raise NotImplementedError("Task 13.8: Loops and branches")


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
    # Task 13.8: Emit the loop.
    raise NotImplementedError("Task 13.8: Loops and branches")


@rule(ANCHORED, "scf.if")
def branch(threads: Threads, operation: Operation) -> None:
    """Run the first block if the operand is true, otherwise the second, if there is one.

    The operands of the block's terminator are the operation's results. No thread runs instructions of the other block.
    Without a second block, the second region, if there is one, has no `blocks`.
    """
    # Task 13.8: Emit the branch.
    raise NotImplementedError("Task 13.8: Loops and branches")


@rule(ANCHORED, "scf.while")
def while_loop(threads: Threads, operation: Operation) -> None:
    """Run the first block; while its condition holds, run the second block, then the first again.

    The first block's arguments begin as the operation's operands; the second block's terminator has their next values.
    The first block's terminator has the condition, then values that are the second block's arguments if the condition
    holds, and the operation's results if not.
    """
    # Task 13.8: Emit the loop.
    raise NotImplementedError("Task 13.8: Loops and branches")


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
