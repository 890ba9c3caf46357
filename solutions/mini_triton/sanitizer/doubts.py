"""Loads that are masked off although their results may matter: found in a kernel before it runs. (Given.)

    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, 2 * v, mask=at < n)      # harmless: what is stored was loaded
    tl.store(total, tl.sum(v, 0))               # now the load is in doubt

Each value has *conditions*: an element is good if all of them hold for it. A use is harmless if its mask implies them.
Loads in doubt are looked at when the kernel runs: they are harmless if no element is masked off.

Conditions are terms: `(what, attributes, *operands)`, which are equal if they are computed alike. `(rows < n)[:, None]`
and `rows[:, None] < n` are the same term, and so are a scalar and a tensor that is filled with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mini_triton.codegen.axes import axis_of, flow
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.types import I1, element_type, shape_of

Term = tuple[Any, ...]
NEVER: Term = ("never", "")
"""The condition of elements that may all be garbage."""
HEIGHT = 12
"""Operations above one another in a term; a value that would have more is a term of its own."""
Conditions = frozenset[tuple[Operation, Term]]
"""Pairs of an operation that makes garbage, and a condition that leaves it out."""
GOOD: Conditions = frozenset()
UNIFORM = ("arith.constant", "tt.get_program_id", "tt.get_num_programs", "never")
MOVES = ("tt.expand_dims", "tt.trans", "tt.reshape")
REPEATS = ("tt.splat", "tt.broadcast")
ELEMENTWISE = ("arith.select", "tt.addptr", "tt.int_to_ptr", "tt.ptr_to_int", *REPEATS)


# --- terms


def height(term: Term) -> int:
    """How many operations are above one another."""
    return 1 + max(map(height, term[2:]), default=0)


def moved(move: Operation, term: Term) -> Term:
    """The term of a value whose elements are moved: moves are inside of elementwise operations."""
    what, attributes, *operands = term
    if operands and what not in MOVES:
        return what, attributes, *(moved(move, operand) for operand in operands)
    how = axis_of(move) if move.name == "tt.expand_dims" else (str(move.attributes), str(move.signature))
    return term if is_uniform(term) else (move.name, how, term)


def across(axis: int, term: Term) -> Term | None:
    """What a term is without an axis, if it is the same all along the axis; else None."""
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
    """The terms that a condition is the conjunction of."""
    return set().union(*map(parts, term[2:])) if term[0] in ("arith.andi", "partly") else {term}


def values_in(term: Term) -> set[Value]:
    """The values that a term is about."""
    return {term[0]} if isinstance(term[0], Value) else set().union(*map(values_in, term[2:]))


def partly(term: Term) -> Term:
    """A condition of elements of which some may be good although it does not hold."""
    return term if term[0] == "partly" else ("partly", "", term)


# --- kernels


class Doubts:
    """What may become of garbage in a kernel. `sources` are the operations that are in doubt."""

    def __init__(self, function: Operation) -> None:
        self.terms: dict[Value, Term] = {}
        self.conditions: dict[Value, Conditions] = {}
        self.sources: set[Operation] = set()
        before: dict[Value, Conditions] | None = None
        while self.conditions != before:  # what a loop carries depends on what its body makes of it
            before = dict(self.conditions)
            for operation in function.walk():
                self.step(operation)

    def term(self, value: Value) -> Term:
        """What a value is."""
        if value not in self.terms:
            term = self.computed(value.owner) if isinstance(value, OpResult) else None
            self.terms[value] = term if term and height(term) <= HEIGHT else (value, "")
        return self.terms[value]

    def computed(self, operation: Operation) -> Term | None:
        """The term of an operation's result; None if it depends on more than its operands."""
        operands = [self.term(operand) for operand in operation.operands]
        if operation.name in REPEATS:
            return operands[0]
        if operation.name in MOVES:
            return moved(operation, operands[0])
        if is_elementwise(operation) or operation.name in (*UNIFORM, "tt.make_range"):
            return operation.name, f"{operation.attributes} {element_type(operation.result.type)}", *operands
        return None

    def of(self, *values: Value) -> Conditions:
        """The conditions of what is computed from values, element by element."""
        return GOOD.union(*(self.conditions.get(value, GOOD) for value in values))

    def without(self, conditions: Conditions, mask: Value | None) -> Conditions:
        """The conditions that a mask does not imply."""
        given = parts(self.term(mask)) if conditions and mask is not None else set()
        return frozenset(pair for pair in conditions if not parts(pair[1]) <= given)

    def use(self, values: Iterable[Value], mask: Value | None = None) -> None:
        """Values matter where the mask is true: garbage that they may have there is in doubt."""
        self.sources.update(source for source, _ in self.without(self.of(*values), mask))

    def step(self, operation: Operation) -> None:
        """What an operation uses, and the conditions of its results."""
        operands, conditions = operation.operands, self.of(*operation.operands)
        match operation.name:
            case "tt.load" | "tt.store" | "tt.atomic_rmw" | "tt.atomic_cas":
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
            case "scf.for" | "scf.if" | "scf.while":
                self.carry(operation)
            case _ if not is_elementwise(operation):
                conditions = changed(lambda _: NEVER, conditions)
        for result in operation.results if not operation.name.startswith("scf.") else ():
            self.conditions[result] = self.of(result) | conditions

    def access(self, operation: Operation) -> Conditions:
        """Addresses, and what is written, matter where they are accessed; a mask matters everywhere."""
        numbers = {"tt.load": 0, "tt.store": 1, "tt.atomic_rmw": 1, "tt.atomic_cas": 2}  # of what is written
        operands, count = operation.operands, 1 + numbers[operation.name]
        used, masks, other = operands[:count], operands[count : count + 1], operands[count + 1 :]
        self.use(used, *masks)
        self.use(masks)
        if operation.name == "tt.load" and masks and not other:
            return frozenset({(operation, self.term(masks[0]))})
        return changed(partly, self.of(*other))

    def beside(self, x: Value, y: Value) -> Conditions:
        """The conditions of `x` in `x & y`: where `y` is false, `x` does not matter."""
        return self.of(x) if self.of(y) else self.without(self.of(x), y)

    def combined(self, values: Sequence[Value], axis: int, keep: bool = True) -> Conditions:
        """The conditions of elements combined along an axis, which should be all good or all garbage.

        `keep` says whether the result has such an axis, too.
        """
        found = set()
        for source, term in self.of(*values):
            rest = across(axis, term)
            if rest is None:
                self.sources.add(source)
            found.add((source, NEVER if rest is None else term if keep else rest))
        return frozenset(found)

    def carry(self, operation: Operation) -> None:
        """What decides about a loop or a branch matters. A condition on values inside means nothing outside."""
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
    """Conditions with other terms. If a term grows too large, it is given up."""
    pairs = ((source, change(term)) for source, term in conditions)
    return frozenset((source, term if height(term) <= 2 * HEIGHT else NEVER) for source, term in pairs)


def is_elementwise(operation: Operation) -> bool:
    """Whether each element of the result depends on the same element of the operands."""
    return bool(operation.operands) and (operation.name in ELEMENTWISE or meaning(operation) is not None)
