"""Structured control flow: `for`, `while` and `if` as operations with regions.

SSA has no assignment, so a variable that changes in a loop is *carried*: it enters the body as a block argument,
and its next value leaves by `scf.yield`. Its last value is a result of the operation.

Source: MLIR's `SCFOps.td`.
"""

from __future__ import annotations

from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops.definition import op, require, spell
from mini_triton.ir.types import I1, IntegerType, Type

Types = tuple[Type, ...]


def argument_types(block: Block) -> Types:
    """The types of a block's arguments."""
    return tuple(argument.type for argument in block.arguments)


def end_of(region: Region, terminator: str) -> Operation:
    """The terminator of a region with one block; raises `TypeError` unless it is a `terminator`."""
    # Task 2.6: Refuse a region of no block or of two; the message names the terminator that is missing.
    raise NotImplementedError("Task 2.6: Structured control flow")


def operand_types(operation: Operation) -> Types:
    """The types of an operation's operands."""
    return tuple(operand.type for operand in operation.operands)


@op("scf.for", assembly="custom")
def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    """`for i in range(lower, upper, step)` with carried values: `inits` before the first iteration.

    The block's arguments are the induction variable and the carried values; `scf.yield` gives the next ones.
    """
    # Task 2.6: With `i32` bounds and one `f32` carried, the block is `^bb0(%i: i32, %x: f32)`, yields an `f32`, and
    # the loop has one `f32` result. The bounds are scalar integers of one type, not `i1`.
    raise NotImplementedError("Task 2.6: Structured control flow")


@op("scf.if", assembly="custom")
def if_(condition: Type, *, regions: list[Region]) -> Types:
    """Run the first region or the second. The results are what that region yields.

    Without results, the second region may have no block: there is no `else` then.
    """
    # Task 2.6: If both regions yield `f32, i32`, so does the `if`. The condition is a scalar `i1`; the regions take no
    # arguments.
    raise NotImplementedError("Task 2.6: Structured control flow")


@op("scf.while", assembly="custom")
def while_(*inits: Type, regions: list[Region]) -> Types:
    """A loop in two regions. *Before* computes the condition and hands it, with values, to `scf.condition`;
    while it holds, *after* receives those values, and yields what *before* gets next. They are the results in the end.
    """
    # Task 2.6: `scf.condition(%go) %a, %b` hands on `%a` and `%b`; their types may differ from those of `inits`.
    raise NotImplementedError("Task 2.6: Structured control flow")


@op("scf.yield", assembly="attr-dict ($values : type($values))?", terminator=True)
def yield_(*values: Type) -> None:
    """Ends a region of `scf.for`, `scf.if` or the second of `scf.while`, with the values that it yields."""


@op("scf.condition", assembly="( $condition ) attr-dict ($values : type($values))?", terminator=True)
def condition(condition: Type, *values: Type) -> None:
    """Ends the first region of `scf.while`: go on, or stop, with these values."""
    # Task 2.6: Refuse a condition that is not a scalar `i1`.
    raise NotImplementedError("Task 2.6: Structured control flow")
