"""Structured control flow; rules by matching."""

from __future__ import annotations

from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.ops.definition import op, spelled
from mini_triton.ir.types import IntegerType, Type

Types = tuple[Type, ...]


def argument_types(block: Block) -> Types:
    """The types of a block's arguments."""
    return tuple(argument.type for argument in block.arguments)


def end_of(region: Region, terminator: str) -> Operation:
    """The terminator of a region with one block; raises `TypeError` unless it is a `terminator`."""
    match region.blocks:
        case [Block(terminator=Operation(name=name) as end)] if name == terminator:
            return end
        case [Block(terminator=end)]:
            raise TypeError(f"{terminator} must be the end, not {end and end.name}")
        case blocks:
            raise TypeError(f"{len(blocks)} blocks instead of one, and no {terminator}")


def operand_types(operation: Operation) -> Types:
    """The types of an operation's operands."""
    return tuple(operand.type for operand in operation.operands)


@op("scf.for", assembly="custom")
def for_(lower: Type, upper: Type, step: Type, *inits: Type, regions: list[Region]) -> Types:
    """`for i in range(lower, upper, step)` with carried values: `inits` before the first iteration.

    The block's arguments are the induction variable and the carried values; `scf.yield` gives the next ones.
    """
    match (lower, upper, step, regions):
        case (IntegerType(width=1), _, _, _):
            raise TypeError("booleans bound no loop")
        case (IntegerType(), _, _, [body]) if lower == upper and lower == step:
            return _agree(inits, yields=operand_types(end_of(body, "scf.yield")), takes=_carried(body.block, lower))
    raise TypeError(f"bounds {lower}, {upper}, {step} and {len(regions)} regions make no loop")


@op("scf.if", assembly="custom")
def if_(condition: Type, *, regions: list[Region]) -> Types:
    """Run the first region or the second. The results are what that region yields.

    Without results, the second region may have no block: there is no `else` then.
    """
    match (condition, regions):
        case (IntegerType(width=1), [then, Region(blocks=[])]):
            return _agree((), yields=operand_types(end_of(then, "scf.yield")), takes=argument_types(then.block))
        case (IntegerType(width=1), [then, other]):
            results = operand_types(end_of(then, "scf.yield"))
            _agree(results, yields=operand_types(end_of(other, "scf.yield")))
            _agree((), then=argument_types(then.block), other=argument_types(other.block))
            return results
    raise TypeError(f"{condition} and {len(regions)} regions make no if")


@op("scf.while", assembly="custom")
def while_(*inits: Type, regions: list[Region]) -> Types:
    """A loop in two regions. *Before* computes the condition and hands it, with values, to `scf.condition`;
    while it holds, *after* receives those values, and yields what *before* gets next. They are the results in the end.
    """
    match regions:
        case [before, after]:
            _, *forwarded = operand_types(end_of(before, "scf.condition"))
            yielded = operand_types(end_of(after, "scf.yield"))
            _agree(inits, before=argument_types(before.block), yields=yielded)
            return _agree(tuple(forwarded), after=argument_types(after.block))
    raise TypeError(f"{len(regions)} regions make no while")


@op("scf.yield", assembly="attr-dict ($values : type($values))?", terminator=True)
def yield_(*values: Type) -> None:
    """Ends a region of `scf.for`, `scf.if` or the second of `scf.while`: what the region results in."""


@op("scf.condition", assembly="( $condition ) attr-dict ($values : type($values))?", terminator=True)
def condition(condition: Type, *values: Type) -> None:
    """Ends the first region of `scf.while`: go on, or stop, with these values."""
    match condition:
        case IntegerType(width=1):
            return None
    raise TypeError(f"{condition} is no condition")


def _agree(wanted: Types, **found: Types) -> Types:
    """Refuse whatever is not as wanted."""
    for name, types in found.items():
        if types != wanted:
            raise TypeError(f"{name} {spelled(types)} instead of {spelled(wanted)}")
    return wanted


def _carried(block: Block, bound: Type) -> Types:
    """The types of the carried values, after the induction variable's."""
    match argument_types(block):
        case (variable, *carried) if variable == bound:
            return tuple(carried)
    raise TypeError(f"the first argument must be {bound}")
