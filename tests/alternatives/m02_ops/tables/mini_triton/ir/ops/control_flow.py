"""Structured control flow; whatever has types is compared at once."""

from __future__ import annotations

from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops.definition import op, require, spelled
from mini_triton.ir.types import I1, IntegerType, Type

Types = tuple[Type, ...]


def argument_types(block: Block) -> Types:
    """The types of a block's arguments."""
    return tuple(argument.type for argument in block.arguments)


def end_of(region: Region, terminator: str) -> Operation:
    """The terminator of a region with one block; raises `TypeError` unless it is a `terminator`."""
    ends = [block.operations[-1:] for block in region.blocks]
    names = [[op.name for op in end] for end in ends]
    require(names == [[terminator]], f"there must be one block, ending in {terminator}")
    return ends[0][0]


def operand_types(operation: Operation) -> Types:
    """The types of an operation's operands."""
    return tuple(operand.type for operand in operation.operands)


@op("scf.for", assembly="custom")
def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    """`for i in range(lower, upper, step)` with carried values: `inits` before the first iteration.

    The block's arguments are the induction variable and the carried values; `scf.yield` gives the next ones.
    """
    require(len(regions) == 1 and {lower, upper, step} <= {*map(IntegerType, (8, 16, 32, 64))}, f"{lower} is no bound")
    end = end_of(regions[0], "scf.yield")
    takes, yields = argument_types(regions[0].block), operand_types(end)
    require(len({lower, upper, step, *takes[:1]}) == 1, "the bounds and the variable have one type")
    require(bool(takes) and takes[1:] == yields == inits, f"{spelled(inits)} become {spelled(yields)}")
    return yields


@op("scf.if", assembly="custom")
def if_(condition: Type, *, regions: list[Region]) -> Types:
    """Run the first region or the second. The results are what that region yields.

    Without results, the second region may have no block: there is no `else` then.
    """
    require(condition == I1 and len(regions) == 2, f"{condition} or {len(regions)} regions are wrong")
    present = [regions[0], *(region for region in regions[1:] if region.blocks)]
    yields = [operand_types(end_of(region, "scf.yield")) for region in present]
    require(not any(region.block.arguments for region in present), "a region takes arguments")
    require(len(present) == 2 or yields == [()], "there is no else for the results")
    require(len(set(yields)) == 1, f"the branches yield {' and '.join(map(spelled, yields))}")
    return yields[0]


@op("scf.while", assembly="custom")
def while_(*inits: Type, regions: list[Region]) -> Types:
    """A loop in two regions. *Before* computes the condition and hands it, with values, to `scf.condition`;
    while it holds, *after* receives those values, and yields what *before* gets next. They are the results in the end.
    """
    require(len(regions) == 2, f"there are {len(regions)} regions")
    ends = [end_of(region, name) for region, name in zip(regions, ("scf.condition", "scf.yield"), strict=True)]
    forwards, yields = operand_types(ends[0])[1:], operand_types(ends[1])
    takes, receives = (argument_types(region.block) for region in regions)
    require((takes, receives, yields) == (inits, forwards, inits), "what goes around the loop does not fit")
    return forwards


@op("scf.yield", assembly="attr-dict ($values : type($values))?", terminator=True)
def yield_(*values: Type) -> None:
    """Ends a region of `scf.for`, `scf.if` or the second of `scf.while`: what the region results in."""


@op("scf.condition", assembly="( $condition ) attr-dict ($values : type($values))?", terminator=True)
def condition(condition: Type, *values: Type) -> None:
    """Ends the first region of `scf.while`: go on, or stop, with these values."""
    require({condition} == {I1}, f"{condition} is no scalar boolean")
