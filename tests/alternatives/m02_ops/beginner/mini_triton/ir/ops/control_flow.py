"""Structured control flow, one question at a time."""

from __future__ import annotations

from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops.definition import op
from mini_triton.ir.types import I1, IntegerType, Type

Types = tuple[Type, ...]


def argument_types(block: Block) -> Types:
    """The types of a block's arguments."""
    return tuple(argument.type for argument in block.arguments)


def end_of(region: Region, terminator: str) -> Operation:
    """The terminator of a region with one block; raises `TypeError` unless it is a `terminator`."""
    if len(region.blocks) == 0:
        raise TypeError("a region must have a block")
    if len(region.blocks) > 1:
        raise TypeError("a region must have only one block")
    operations = region.blocks[0].operations
    if len(operations) == 0:
        raise TypeError(f"an empty region must end in {terminator}")
    last = operations[-1]
    if last.name != terminator:
        raise TypeError(f"a region must end in {terminator}, not in {last.name}")
    return last


def operand_types(operation: Operation) -> Types:
    """The types of an operation's operands."""
    return tuple(operand.type for operand in operation.operands)


@op("scf.for", assembly="custom")
def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    """`for i in range(lower, upper, step)` with carried values: `inits` before the first iteration.

    The block's arguments are the induction variable and the carried values; `scf.yield` gives the next ones.
    """
    if not isinstance(lower, IntegerType):
        raise TypeError(f"its bounds must be integers, not {lower}")
    if lower.width == 1:
        raise TypeError("its bounds must not be booleans")
    if upper != lower:
        raise TypeError(f"the upper bound is {upper}, the lower one {lower}")
    if step != lower:
        raise TypeError(f"the step is {step}, the lower bound {lower}")
    if len(regions) != 1:
        raise TypeError("it needs one region")
    end = end_of(regions[0], "scf.yield")
    arguments = regions[0].blocks[0].arguments
    if len(arguments) != 1 + len(inits):
        raise TypeError("its block must take the induction variable and every carried value")
    if arguments[0].type != lower:
        raise TypeError("the induction variable has another type than the bounds")
    if len(end.operands) != len(inits):
        raise TypeError("it must yield every carried value")
    for i in range(len(inits)):
        if arguments[i + 1].type != inits[i]:
            raise TypeError(f"carried value {i} starts as {inits[i]}")
        if end.operands[i].type != inits[i]:
            raise TypeError(f"carried value {i} is {inits[i]}, but another type is yielded")
    return inits


@op("scf.if", assembly="custom")
def if_(condition: Type, *, regions: list[Region]) -> Types:
    """Run the first region or the second. The results are what that region yields.

    Without results, the second region may have no block: there is no `else` then.
    """
    if condition != I1:
        raise TypeError(f"its condition must be a scalar i1, not {condition}")
    if len(regions) != 2:
        raise TypeError("it needs two regions")
    then_end = end_of(regions[0], "scf.yield")
    if len(regions[0].blocks[0].arguments) > 0:
        raise TypeError("its regions take no arguments")
    then_types = operand_types(then_end)
    if len(regions[1].blocks) == 0:
        if len(then_types) > 0:
            raise TypeError("it has results, so it needs an else")
        return ()
    else_end = end_of(regions[1], "scf.yield")
    if len(regions[1].blocks[0].arguments) > 0:
        raise TypeError("its regions take no arguments")
    if operand_types(else_end) != then_types:
        raise TypeError("its branches yield different types")
    return then_types


@op("scf.while", assembly="custom")
def while_(*inits: Type, regions: list[Region]) -> Types:
    """A loop in two regions. *Before* computes the condition and hands it, with values, to `scf.condition`;
    while it holds, *after* receives those values, and yields what *before* gets next. They are the results in the end.
    """
    if len(regions) != 2:
        raise TypeError("it needs two regions")
    before_end = end_of(regions[0], "scf.condition")
    after_end = end_of(regions[1], "scf.yield")
    forwarded = []
    for operand in before_end.operands[1:]:
        forwarded.append(operand.type)
    results = tuple(forwarded)
    if argument_types(regions[0].blocks[0]) != inits:
        raise TypeError("before must take what the loop starts with")
    if argument_types(regions[1].blocks[0]) != results:
        raise TypeError("after must take what before hands on")
    if operand_types(after_end) != inits:
        raise TypeError("after must yield what before takes")
    return results


@op("scf.yield", assembly="attr-dict ($values : type($values))?", terminator=True)
def yield_(*values: Type) -> None:
    """Ends a region of `scf.for`, `scf.if` or the second of `scf.while`: what the region results in."""


@op("scf.condition", assembly="( $condition ) attr-dict ($values : type($values))?", terminator=True)
def condition(condition: Type, *values: Type) -> None:
    """Ends the first region of `scf.while`: go on, or stop, with these values."""
    if condition != I1:
        raise TypeError("its condition must be a scalar i1, not " + str(condition))
