"""Everything that can be wrong with a program, each by its name.

A fault writes a few operations at the end of a block, of which one breaks a rule, and returns that one. Whatever
was there before is right. The values of `programs.PARAMETERS` can be used.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.m02_ops import descriptions as ir
from tests.support.m02_ops.descriptions import Block, Op
from tests.support.m02_ops.faults.order import ORDER, TERMINATORS
from tests.support.m02_ops.faults.parts import Fault, yielding
from tests.support.m02_ops.faults.types import TYPES, UNCHECKED
from tests.support.m02_ops.programs import PARAMETERS, Body, Step, around

__all__ = [
    "FAULTS",
    "ORDER",
    "PLACES",
    "TERMINATORS",
    "TYPES",
    "UNCHECKED",
    "line_of",
    "spoiled",
    "without_a_return",
    "without_operations",
]

FAULTS = {**TYPES, **ORDER, **TERMINATORS}
PLACES = ("for", "if", "else", "before", "after")


def spoiled(steps: Sequence[Step], fault: Fault, inside: Sequence[str] = ()) -> tuple[Op, Op]:
    """The module that a recipe stands for with a fault at its end, and the operation at fault.

    `inside` names the blocks around the fault, from the outside in: "for", "if", "else", "before" or "after".
    """
    outer = Body(PARAMETERS)
    outer.follow(steps)
    wrong = _place(outer, fault, list(inside))
    return around(outer), wrong


def line_of(wrong: Op, module: Op) -> int:
    """The line that `ir.build` says an operation comes from."""
    return next(line for line, op in enumerate(module.walk(), 1) if op is wrong)


def _place(body: Body, fault: Fault, inside: list[str]) -> Op:
    if not inside:
        return fault(body)
    where, *rest = inside
    inner, arguments = body.inner(*(["i32"] if where == "for" else []))
    wrong = _place(inner, fault, rest)
    inner.emit("scf.condition" if where == "before" else "scf.yield", ["c"] if where == "before" else [])
    region = (Block(arguments, tuple(inner.operations)),)
    if where == "for":
        body.emit("scf.for", ("n", "n", "n"), regions=[region])
    elif where in ("if", "else"):
        body.emit("scf.if", ("c",), regions=[region, yielding()] if where == "if" else [yielding(), region])
    else:
        condition = (Block((), (Op("scf.condition", ("c",)),)),)
        body.emit("scf.while", regions=[region, yielding()] if where == "before" else [condition, region])
    return wrong


def without_a_return() -> Op:
    """A module whose kernel ends in an ordinary operation."""
    return ir.module(ir.function(PARAMETERS, [ir.constant("one", "i32")]))


def without_operations() -> Op:
    """A module whose kernel is empty."""
    return ir.module(ir.function(PARAMETERS, []))
