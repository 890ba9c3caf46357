"""Find the loads whose masked-off elements may matter, before the kernel runs. (Given.)

    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, 2 * v, mask=at < n)      # harmless: stores only elements that were loaded
    tl.store(total, tl.sum(v, 0))               # now the load is in doubt

Each value has *conditions*: an element is good if all conditions hold for it. A use is harmless if its mask implies
the conditions. Checks at run time watch the loads in doubt: such a load is harmless if no element is masked off.

Conditions are terms, `(what, attributes, *operands)`. Two terms are equal if they are computed alike.
`(rows < n)[:, None]` and `rows[:, None] < n` are the same term, and so are a scalar and a tensor filled with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mini_triton.analysis.flow import flow, until_stable
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.definition import definitions, operand_of, traits
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import I1, element_type, shape_of

Term = tuple[Any, ...]
NEVER: Term = ("never", "")
"""A condition that never holds: every element may be poisoned."""
HEIGHT = 12
"""The greatest height of a term. A value whose term would be higher becomes a term of its own."""
Conditions = frozenset[tuple[Operation, Term]]
"""Pairs of an operation that poisons elements, and the condition under which an element is not poisoned."""
GOOD: Conditions = frozenset()
UNIFORM = ("arith.constant", "tt.get_program_id", "tt.get_num_programs", "never")
REPEATS = ("tt.splat", "tt.broadcast")
MOVES = frozenset(name for name, declared in definitions().items() if declared.moves and declared.is_unary) - {
    *REPEATS,
    "tt.split",
    "tt.unsplat",
}


# --- terms


def height(term: Term) -> int:
    """The height of a term as a tree."""
    return 1 + max(map(height, term[2:]), default=0)


def moved(move: Operation, term: Term) -> Term:
    """The term of a value whose elements an operation moves. In a term, moves are inside elementwise operations."""
    what, attributes, *operands = term
    if operands and what not in MOVES:
        return what, attributes, *(moved(move, operand) for operand in operands)
    how = axis_of(move) if move.name == "tt.expand_dims" else (str(move.attributes), str(move.signature))
    return term if is_uniform(term) else (move.name, how, term)


def across(axis: int, term: Term) -> Term | None:
    """The term without an axis, if the term is uniform along the axis; otherwise, None."""
    what, attributes, *operands = term
    if what == "tt.expand_dims":
        return operands[0] if attributes == axis else None
    if not operands:
        return term if is_uniform(term) and term != NEVER else None
    left = [across(axis, operand) for operand in operands]
    return None if None in left or what in (*MOVES, "partly") else (what, attributes, *left)


def is_uniform(term: Term) -> bool:
    """Whether a term without operands is the same in all elements."""
    return not shape_of(term[0].type) if isinstance(term[0], Value) else term[0] in UNIFORM


def parts(term: Term) -> set[Term]:
    """The terms whose conjunction is the condition."""
    return set().union(*map(parts, term[2:])) if term[0] in ("arith.andi", "partly") else {term}


def values_in(term: Term) -> set[Value]:
    """The values at the leaves of a term."""
    return {term[0]} if isinstance(term[0], Value) else set().union(*map(values_in, term[2:]))


def partly(term: Term) -> Term:
    """A condition that is sufficient but not necessary: an element may be good although the condition does not hold."""
    return term if term[0] == "partly" else ("partly", "", term)


# --- kernels


class Doubts:
    """Follows poison through a kernel. `sources` are the operations in doubt."""

    def __init__(self, function: Operation) -> None:
        self.terms: dict[Value, Term] = {}
        self.conditions: dict[Value, Conditions] = {}
        self.sources: set[Operation] = set()
        until_stable(self.conditions, function, self.visit)  # carried values depend on the loop's body

    def term(self, value: Value) -> Term:
        """The term of a value."""
        if value not in self.terms:
            term = self.computed(value.owner) if isinstance(value, OpResult) else None
            self.terms[value] = term if term and height(term) <= HEIGHT else (value, "")
        return self.terms[value]

    def computed(self, operation: Operation) -> Term | None:
        """The term of an operation's result; None if the result depends on more than the operands."""
        operands = [self.term(operand) for operand in operation.operands]
        if operation.name in REPEATS:
            return operands[0]
        if operation.name in MOVES:
            return moved(operation, operands[0])
        if is_elementwise(operation) or operation.name in (*UNIFORM, "tt.make_range"):
            return operation.name, f"{operation.attributes} {element_type(operation.result.type)}", *operands
        return None

    def of(self, *values: Value) -> Conditions:
        """The conditions of a value computed from these values, element by element."""
        return GOOD.union(*(self.conditions.get(value, GOOD) for value in values))

    def without(self, conditions: Conditions, mask: Value | None) -> Conditions:
        """The conditions that a mask does not imply."""
        given = parts(self.term(mask)) if conditions and mask is not None else set()
        return frozenset(pair for pair in conditions if not parts(pair[1]) <= given)

    def use(self, values: Iterable[Value], mask: Value | None = None) -> None:
        """Note a use of values where the mask is true: sources of poison there are in doubt."""
        self.sources.update(source for source, _ in self.without(self.of(*values), mask))

    def visit(self, operation: Operation) -> None:
        """Note the values that an operation uses, and the conditions of its results."""
        operands, conditions = operation.operands, self.of(*operation.operands)
        match operation.name:
            case _ if traits(operation).accesses:
                conditions = self.access(operation)
            case "ub.poison":
                conditions = frozenset({(operation, NEVER)})
            case "arith.select":
                condition, x, y = operands
                conditions = changed(partly, self.of(condition, y) | self.without(self.of(x), condition))
            case "arith.andi" if element_type(operation.result.type) == I1:
                x, y = operands
                conditions = changed(partly, self.beside(x, y) | self.beside(y, x))
            case "arith.ori" if element_type(operation.result.type) == I1:
                conditions = changed(partly, conditions)
            case name if name in MOVES:
                conditions = changed(lambda term: moved(operation, term), conditions)
            case "tt.reduce":
                conditions = self.combined(operands, axis_of(operation), keep=False)
            case "tt.dot":
                a, b, c = operands
                rank = len(shape_of(a.type))
                conditions = self.combined([a], rank - 1) | self.combined([b], rank - 2) | self.of(c)
            case "tt.dot_scaled":
                self.use(operands)
            case "tt.histogram":
                self.use(operands[:1], *operands[1:])
            case _ if traits(operation).flow:
                self.carry(operation)
            case _ if not is_elementwise(operation):
                conditions = changed(lambda _: NEVER, conditions)
        for result in operation.results if not traits(operation).flow else ():
            self.conditions[result] = self.of(result) | conditions

    def access(self, operation: Operation) -> Conditions:
        """Note an access's uses: addresses and written values matter where the mask is true, the mask everywhere."""
        mask, other = operand_of(operation, "mask"), operand_of(operation, "other")
        self.use((operand for operand in operation.operands if operand not in (mask, other)), mask)
        self.use([mask] if mask else [])
        if operation.name == "tt.load" and mask and not other:
            return frozenset({(operation, self.term(mask))})
        return changed(partly, self.of(*([other] if other else [])))

    def beside(self, x: Value, y: Value) -> Conditions:
        """The conditions of `x` in `x & y`: where `y` is false, `x` does not matter."""
        return self.of(x) if self.of(y) else self.without(self.of(x), y)

    def combined(self, values: Sequence[Value], axis: int, keep: bool = True) -> Conditions:
        """The conditions of elements combined along an axis. The elements should be all good or all poisoned.

        `keep` says whether the result still has this axis.
        """
        found = set()
        for source, term in self.of(*values):
            rest = across(axis, term)
            if rest is None:
                self.sources.add(source)
            found.add((source, NEVER if rest is None else term if keep else rest))
        return frozenset(found)

    def carry(self, operation: Operation) -> None:
        """Note the uses of a loop or branch: bounds and conditions matter. Terms of inner values become `NEVER`."""
        blocks = [region.block for region in operation.regions if region.blocks]
        if operation.name == "scf.while":
            assert blocks[0].terminator is not None
            self.use(blocks[0].terminator.operands[:1])
        else:
            self.use(operation.operands[:3] if operation.name == "scf.for" else operation.operands)
        inside = {
            value
            for inner in operation.walk()
            for region in inner.regions
            for block in region.blocks
            for value in (*block.arguments, *(result for o in block.operations for result in o.results))
        }
        for value, sources in flow(operation):
            lost = changed(lambda term: NEVER if values_in(term) & inside else term, self.of(*sources))
            self.conditions[value] = self.of(value) | lost


def changed(change: Callable[[Term], Term], conditions: Conditions) -> Conditions:
    """Conditions with changed terms. A term that grows too large becomes `NEVER`."""
    pairs = ((source, change(term)) for source, term in conditions)
    return frozenset((source, term if height(term) <= 2 * HEIGHT else NEVER) for source, term in pairs)


def is_elementwise(operation: Operation) -> bool:
    """Whether each element of the result depends on the same element of the operands."""
    return bool(operation.operands) and (traits(operation).elementwise or operation.name in REPEATS)
