"""Why a memory access is not wider: the argument, constant or operation at which a fact is lost. (Given.)

Suppose that a load's mask is known to be constant over runs of one element only. `Blame` walks up from the mask, each
time to an operand about which just as little is known. The walk ends at the argument `n`, which may have any value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from mini_triton.analysis.axis_info import AxisAnalysis, Facts, unit_of
from mini_triton.analysis.flow import sources_of
from mini_triton.ir.core import BlockArgument, OpResult, Value
from mini_triton.ir.moves import view_of
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.ops.elementwise import is_integer
from mini_triton.ir.types import I1, element_type, is_pointer, shape_of
from mini_triton.transforms.coalescing import WIDEST, Access, Limits, mask_of
from mini_triton.transforms.rewriting import constant_of
from mini_triton.transforms.structure import source_of

Place: TypeAlias = tuple[Value, int]
"""A value, and one of its axes."""
Weak: TypeAlias = Callable[[Place, list[Place]], list[Place]]
"""A function of a place and its operands. Returns the operands that are as weak as the place."""


class Blame:
    """Explains the width of accesses by the facts of an axis analysis."""

    def __init__(self, analysis: AxisAnalysis) -> None:
        self.analysis = analysis

    def explain(self, access: Access) -> str:
        """The narrowest limit of an access, and its cause."""
        pointers, axis, limits = access.operation.operands[0], access.axis, access.limits
        facts, size, wanted = self.facts((pointers, axis)), shape_of(pointers.type)[axis], WIDEST // access.element
        narrowest = Limits._fields[limits.index(min(limits))]
        if narrowest == "neighbors" and facts.contiguity == size:
            return f"only {counted(size)} lie along this axis"
        if narrowest == "neighbors" and self.is_steady((pointers, axis)):
            return "all elements along this axis have the same address"
        if narrowest == "neighbors":
            few = f"only {counted(facts.contiguity)} are" if facts.contiguity > 1 else "its elements are not"
            return f"{few} known to be neighbors in memory: {self.step(self.origin((pointers, axis), self.scattered))}"
        if narrowest == "alignment":
            known = f"its address is known to be a multiple of {counted(facts.divisibility, 'byte')} only"
            return f"{known}: {described(self.origin((pointers, axis), self.unaligned)[0], wanted)}"
        if narrowest == "mask":
            mask = mask_of(access.operation)
            assert mask
            known = f"its mask is known to be constant over runs of {counted(limits.mask)} only"
            return f"{known}: {described(self.origin((mask, axis), self.changing)[0], wanted)}"
        return f"a program has only {counted(limits.share)} for each thread"

    def step(self, place: Place) -> str:
        """Why a value does not count up by one, although its operands do."""
        value = place[0]
        if not isinstance(value, OpResult):
            return described(value, 1)
        steady = [root(operand) for operand, axis in operands_of(place) if self.is_steady((operand, axis))]
        other = steady[-1] if steady else None
        match value.owner.name:
            case "arith.muli" if other:
                return f"they are {named(other)} apart{line_of(value)}"
            case "arith.shli" if other and (shift := constant_of(other)):
                return f"they are {2 ** int(shift)} apart{line_of(value)}"
            case "arith.remsi" | "arith.remui" if other:
                return f"`%` starts again at {named(other)}{line_of(value)}"
            case "arith.divsi" | "arith.divui":
                return f"`//` repeats them{line_of(value)}"
            case "arith.subi":
                return f"they count down{line_of(value)}"
        return described(value, 1)

    # --- where a fact is lost

    def origin(self, place: Place, weak: Weak) -> Place:
        """Where a fact is lost: among the `origins`, preferably an argument, else a constant, else any other place."""
        return min(self.origins(place, weak, set()), key=lambda found: rank(found[0]))

    def origins(self, place: Place, weak: Weak, seen: set[Place]) -> Iterator[Place]:
        """All places where the search along weak operands ends."""
        seen.add(place)
        ways = [way for way in weak(place, operands_of(place)) if way not in seen]
        for way in ways:
            yield from self.origins(way, weak, seen)
        if not ways:
            yield place

    def scattered(self, place: Place, operands: list[Place]) -> list[Place]:
        """The operands that vary along the axis and are not more contiguous than the result."""
        most = self.facts(place).contiguity
        return [way for way in operands if self.facts(way).contiguity <= most and not self.is_steady(way)]

    def unaligned(self, place: Place, operands: list[Place]) -> list[Place]:
        """The operands whose divisibility is not greater than the result's."""
        most = self.facts(place).divisibility
        unit = unit_of(place[0].type)
        return [way for way in operands if self.facts(way).divisibility * unit // unit_of(way[0].type) <= most]

    def changing(self, place: Place, operands: list[Place]) -> list[Place]:
        """The operands whose constancy is not greater than the result's.

        For a comparison, these are the operands whose divisibility lets the result change inside a longer run.
        """
        if element_type(place[0].type) != I1:
            return self.unaligned(place, operands)
        most = self.facts(place).constancy
        if isinstance(place[0], OpResult) and place[0].owner.name == "arith.cmpi":
            counts = any(self.facts(way).contiguity > most for way in operands)
            return [way for way in operands if counts and self.facts(way).divisibility <= most]
        return [way for way in operands if self.facts(way).constancy <= most]

    def facts(self, place: Place) -> Facts:
        """The facts of a value along one axis."""
        return self.analysis[place[0]][place[1]]

    def is_steady(self, place: Place) -> bool:
        """Whether a value is known to be constant along an axis."""
        shape = shape_of(place[0].type)
        return not shape or self.facts(place).constancy == shape[place[1]]


def operands_of(place: Place) -> list[Place]:
    """The integers and pointers from which a value is computed, with the matching axes; empty for a load."""
    value, axis = place
    assert isinstance(value, OpResult | BlockArgument)
    operation = source_of(value)
    if operation.name == "scf.for" and value is operation.regions[0].block.arguments[0]:
        return [(operation.operands[0], axis), (operation.operands[2], axis)]  # the lower bound and the step
    if traits(operation).flow:
        return [(source, axis) for source in sources_of(value)]
    if operation.regions or traits(operation).accesses or operation.name == "tt.gather":
        return []
    if view := view_of(operation):
        is_longer = len(view) > len(shape_of(operation.operands[0].type))
        old = view[axis]
        if old is not None:
            axis = old
        elif is_longer:
            axis = max(0, axis - 1)  # a new axis has the alignment of all others
    known = [operand for operand in operation.operands if is_integer(operand.type) or is_pointer(operand.type)]
    return [(operand, axis if shape_of(operand.type) else 0) for operand in known]


# --- words


def described(value: Value, wanted: int) -> str:
    """Explain the cause to an author who wants `wanted` elements per instruction."""
    if is_parameter(value):
        promise = f"aligned to {WIDEST} bytes" if is_pointer(value.type) else f"a multiple of {wanted}"
        return f"{named(value)} is not known to be {promise}"
    if constant_of(value) is not None:
        return f"{named(value)} is not a multiple of {wanted}"
    name = value.owner.name if isinstance(value, OpResult) else ""
    if name == "tt.load":
        return f"they depend on what is read from memory{line_of(value)}"
    if name == "arith.cmpi":
        return f"the comparison may change anywhere{line_of(value)}"
    return f"nothing more is known about {named(value)}{line_of(value)}"


def named(value: Value) -> str:
    """The author's name for a value, or its number."""
    number = constant_of(value)
    if number is not None:
        return str(number)
    if isinstance(value, OpResult) and value.owner.name in ("tt.get_program_id", "tt.get_num_programs"):
        return f"`tl.{value.owner.name[7:]}`"
    # The printer adds numbers to equal names.
    name = value.name if is_parameter(value) else re.sub(r"_\d+$", "", value.name)
    return f"`{name}`" if name else "a value"


def line_of(value: Value) -> str:
    """The source line that computes a value, in brackets; empty if it is not known."""
    return f" (line {value.owner.loc.line})" if isinstance(value, OpResult) and value.owner.loc else ""


def counted(number: int, noun: str = "element") -> str:
    """`1 element`, `2 elements`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def root(value: Value) -> Value:
    """The scalar from which splats, broadcasts and casts made a tensor."""
    while isinstance(value, OpResult) and (view_of(value.owner) or value.owner.name in ("arith.extsi", "arith.extui")):
        value = value.owner.operands[0]
    return value


def is_parameter(value: Value) -> bool:
    """Whether a value is a parameter of the kernel."""
    return isinstance(value, BlockArgument) and source_of(value).name == "tt.func"


def rank(value: Value) -> int:
    """The order of causes: first a parameter, because its author can promise facts about it; then a constant."""
    return 0 if is_parameter(value) else 1 if constant_of(value) is not None else 2
