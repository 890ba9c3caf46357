"""What faults are written with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.support.m02_ops.descriptions import Block, Op, word
from tests.support.m02_ops.programs import Body, Region

Fault = Callable[[Body], Op]
SLT = {"predicate": word("slt", 2, width=64)}


def yielding(*names: str) -> Region:
    return (Block((), (Op("scf.yield", names),)),)


def listed(faults: dict[str, Fault]) -> Callable[[Fault], Fault]:
    def enter(fault: Fault) -> Fault:
        faults[fault.__name__.replace("_", " ")] = fault
        return fault

    return enter


def combine(body: Body, arguments: Sequence[str], end: str | None, *returned: int | str) -> Region:
    """A combine region; it returns arguments by number, or values by name."""
    _, named = body.inner(*arguments)
    names = tuple(named[value][0] if isinstance(value, int) else value for value in returned)
    return (Block(named, (Op(end, names),) if end else ()),)
