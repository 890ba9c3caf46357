"""Control flow: loops and branches, which all threads of a program take together.

A value that a loop carries has a register of its own in each thread, for each element. At the end of an iteration, the
next values are copied into these registers, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mini_triton.backends.threads.instructions import Instruction, Register, kind_of, width_of
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
    """Copy values into the registers of other values, all at once."""
    # Task 13.8: Copy the registers.
    raise NotImplementedError("Task 13.8: Loops and branches")


def body(threads: Threads, block: Block, targets: Sequence[Value], operands: Sequence[Value]) -> list[Instruction]:
    """The instructions of a block, whose terminator passes operands to other values.

    What the block needs from outside may be computed only now, before the block; so its caller adds branches later.
    """
    with threads.nested(block) as instructions:
        threads.block(block)
        assign(threads, targets, operands)
    return instructions


def terminator(block: Block) -> Operation:
    """The last operation of a block."""
    return block.operations[-1]


@rule(ANCHORED, "scf.for")
def for_loop(threads: Threads, operation: Operation) -> None:
    """A loop over a range; the condition is tested before the first iteration and after each."""
    # Task 13.8: Emit the loop.
    raise NotImplementedError("Task 13.8: Loops and branches")


@rule(ANCHORED, "scf.if")
def branch(threads: Threads, operation: Operation) -> None:
    """Run one of two blocks."""
    # Task 13.8: Emit the branch.
    raise NotImplementedError("Task 13.8: Loops and branches")


@rule(ANCHORED, "scf.while")
def while_loop(threads: Threads, operation: Operation) -> None:
    """Run the first block; while its condition holds, the second block, then the first again."""
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
    layout = threads.choice.natural(condition) or threads.choice.default(condition.type)
    for register in threads.all_registers(condition, layout).values():
        threads.do("trap", guard=register, negated=True)
