"""Where a value comes from, and the driver of analyses. (Given.)

flow(operation)                      the values that control flow carries, each with its possible sources
carried_by(loop)                     the values that a `scf.for` carries
sources_of(value)                    the values from which a value is computed, or which it may be
reached(values)                      these values, their sources, the sources of those, and so on
until_stable(facts, function, step)  repeat an analysis until nothing changes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mini_triton.ir.core import BlockArgument, Operation, OpResult, Value
from mini_triton.ir.ops.definition import traits


def flow(operation: Operation) -> Iterator[tuple[Value, Sequence[Value]]]:
    """Pairs of a value that an operation's regions carry or return, and its possible sources."""
    declared = traits(operation).flow
    return declared(operation) if declared else iter(())


def carried_by(loop: Operation) -> Iterator[tuple[Value, Value, Value, Value]]:
    """The values that a `scf.for` carries: in the loop, after it, before it, and after an iteration."""
    block = loop.regions[0].block
    assert block.terminator
    return zip(block.arguments[1:], loop.results, loop.operands[3:], block.terminator.operands, strict=True)


def sources_of(value: Value) -> Sequence[Value]:
    """The values from which a value comes.

    For a carried value, or a result of control flow, these are the values that it may equal. For the result of any
    other operation, these are the operands. A parameter, and a loop's induction variable, has no sources here.
    """
    if isinstance(value, OpResult):
        around: Operation | None = value.owner
    else:
        assert isinstance(value, BlockArgument)
        around = value.owner.parent.parent if value.owner.parent else None
    if around is not None and traits(around).flow:
        return dict(flow(around)).get(value, ())
    return around.operands if isinstance(value, OpResult) and around else ()


def reached(values: Iterable[Value], sources: Callable[[Value], Iterable[Value]] = sources_of) -> set[Value]:
    """All values from which these values come, and the values themselves."""
    found: set[Value] = set()
    left = list(values)
    while left:
        value = left.pop()
        if value not in found:
            found.add(value)
            left.extend(sources(value))
    return found


def until_stable(facts: Mapping[Any, Any], function: Operation, step: Callable[[Operation], object]) -> None:
    """Call `step`, which may change the facts, for all operations of a function, until it changes nothing."""
    before: dict[Any, Any] | None = None
    while facts != before:
        before = dict(facts)
        for operation in function.walk():
            step(operation)
