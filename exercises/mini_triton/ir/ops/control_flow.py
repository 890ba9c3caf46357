"""Structured control flow: `for`, `while` and `if` as operations with regions.

SSA has no assignment, so a variable that changes in a loop is *carried*: it enters the body as a block argument, and
`scf.yield` returns its next value. Its last value is a result of the operation.

Source: MLIR's `SCFOps.td`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.ir.ops.definition import NOTHING, op, require, spell
from mini_triton.ir.types import I1, IntegerType, Type

Types = tuple[Type, ...]


def argument_types(block: Block) -> Types:
    """The types of a block's arguments."""
    return tuple(argument.type for argument in block.arguments)


def end_of(region: Region, terminator: str) -> Operation:
    """The terminator of a region with one block; raises `TypeError` unless its name is `terminator`."""
    # Task 2.5: Reject a region without a block or with several blocks. If the block is empty or ends in another
    # operation, the message names `terminator`.
    raise NotImplementedError("Task 2.5: Dot, reduce and scan")


def operand_types(operation: Operation) -> Types:
    """The types of an operation's operands."""
    return tuple(operand.type for operand in operation.operands)


# --- how values flow (given)

Pairs = Iterator[tuple[Value, Sequence[Value]]]


def ends_of(operation: Operation) -> list[tuple[Value, ...]]:
    """The operands of the terminator of each region that has a block."""
    blocks = [region.block for region in operation.regions if region.blocks]
    return [block.terminator.operands if block.terminator else () for block in blocks]


def for_flow(operation: Operation) -> Pairs:
    """A carried value, and the loop's result, are the initial value or the yielded one."""
    (yielded,) = ends_of(operation)
    carried = operation.regions[0].block.arguments[1:]
    for argument, result, *pair in zip(carried, operation.results, operation.operands[3:], yielded, strict=True):
        yield argument, pair
        yield result, pair


def while_flow(operation: Operation) -> Pairs:
    """The first region takes initial or yielded values, and forwards values to the second region and to the results."""
    (_, *forwarded), yielded = ends_of(operation)
    before, after = (region.block for region in operation.regions)
    for argument, *pair in zip(before.arguments, operation.operands, yielded, strict=True):
        yield argument, pair
    for argument, result, value in zip(after.arguments, operation.results, forwarded, strict=True):
        yield argument, (value,)
        yield result, (value,)


def if_flow(operation: Operation) -> Pairs:
    """A result is the value that the first or the second region yields."""
    if operation.results:
        for result, *pair in zip(operation.results, *ends_of(operation), strict=True):
            yield result, pair


# --- operations


@op("scf.for", assembly="custom", effects=NOTHING, flow=for_flow)
def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    """`for i in range(lower, upper, step)` with carried values, which start as `inits`.

    The block's arguments are the induction variable and the carried values; `scf.yield` returns the next values.
    """
    # Task 2.6: If the bounds are `i32`, and one `f32` is carried, the block `^bb0(%i: i32, %x: f32)` yields an `f32`,
    # and the loop has one `f32` result. The bounds and the step must be scalar integers of one type other than `i1`.
    raise NotImplementedError("Task 2.6: Structured control flow")


@op("scf.if", assembly="custom", effects=NOTHING, flow=if_flow)
def if_(condition: Type, *, regions: list[Region]) -> Types:
    """Run the first region or the second. The results are the values that the chosen region yields.

    An `if` without results may have an empty second region, which means that there is no `else`.
    """
    # Task 2.6: If both regions yield `f32, i32`, these are the result types of the `if`. The condition must be a
    # scalar `i1`, and the regions must not take arguments.
    raise NotImplementedError("Task 2.6: Structured control flow")


@op("scf.while", assembly="custom", effects=NOTHING, flow=while_flow)
def while_(*inits: Type, regions: list[Region]) -> Types:
    """A loop of two regions, *before* and *after*.

    *Before* ends with `scf.condition`, which takes the condition and values. While the condition is true, *after* takes
    these values, and yields the next arguments of *before*. When the condition is false, these values become the loop's
    results.
    """
    # Task 2.6: `scf.condition(%go) %a, %b` forwards `%a` and `%b`, whose types may differ from those of `inits`.
    raise NotImplementedError("Task 2.6: Structured control flow")


@op("scf.yield", assembly="attr-dict ($values : type($values))?", terminator=True)
def yield_(*values: Type) -> None:
    """Ends a region of `scf.for` or `scf.if`, or the second region of `scf.while`, and yields values."""


@op("scf.condition", assembly="( $condition ) attr-dict ($values : type($values))?", terminator=True)
def condition(condition: Type, *values: Type) -> None:
    """Ends the first region of `scf.while`. `values` go to the second region, or become the loop's results."""
    # Task 2.6: Reject a condition that is not a scalar `i1`.
    raise NotImplementedError("Task 2.6: Structured control flow")
