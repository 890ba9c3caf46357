"""A loop nest computes, at each index, all scalars that its roots need.

`LoopBody.at(value, index)` returns the expression of one element. Each statement belongs to a level: a statement that
depends on no loop variable precedes the loops, and one that depends only on outer variables is in the outer loops. For
each memory access, a guard before the loops ensures that every index is in bounds.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mini_triton.codegen.numba_gen.expressions import (
    FALSE,
    TRUE,
    ZERO,
    Expression,
    Index,
    Name,
    Number,
    add,
    apply,
    both,
    either,
    is_simple,
)
from mini_triton.codegen.numba_gen.plan import Access, Unsupported, defining, is_tensor, operands_at
from mini_triton.codegen.numba_gen.polynomials import Polynomial, greatest, least
from mini_triton.codegen.numba_gen.scalars import constant, elementwise, kind, loaded, number
from mini_triton.codegen.numba_gen.statements import Assign, For, If, Statement, stop_if, stop_unless
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.definition import definitions
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter

ARITHMETIC = {"arith.addi": operator.add, "tt.addptr": operator.add, "arith.subi": operator.sub}
ARITHMETIC["arith.muli"] = operator.mul
MOVED = {name for name, declared in definitions().items() if declared.moves and declared.is_unary}
"""Operations whose result has the operand's elements, at other indices."""
UNCHANGED = MOVED | {"tt.bitcast", "arith.extsi"}
"""Operations whose result has the operand's numbers."""
MIRRORED = {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"}


@dataclass(frozen=True)
class AffineExpr:
    """An integer equal to `base` plus a multiple of each loop variable."""

    base: Polynomial
    steps: Mapping[Name, Polynomial]

    @classmethod
    def of(cls, value: Polynomial, variables: Sequence[Expression]) -> AffineExpr | None:
        """A polynomial as an affine function of loop variables; None if a term contains two loop variables."""
        base, steps = Polynomial({}), dict[Name, Polynomial]()
        for product, count in value.terms.items():
            found = [factor for factor in product if factor in variables]
            rest = Polynomial({tuple(factor for factor in product if factor not in found): count})
            if len(found) > 1:
                return None
            if found:
                (variable,) = found
                assert isinstance(variable, Name)
                steps[variable] = steps.get(variable, 0) + rest
            else:
                base += rest
        return cls(base, steps)

    def ends(self, ranges: Mapping[Name, tuple[Polynomial, Polynomial]]) -> tuple[Polynomial, Polynomial]:
        """The least and the greatest value if each loop variable is in its range `(first, end)`.

        With the base 5, the step 2 for i0, and i0 in the range `(0, 8)`, they are 5 and 19. No range is empty.
        """
        # Task 10.5: Add, subtract and multiply polynomials like numbers. You cannot compare them, because a step may
        # contain a variable, such as a stride, whose sign is unknown until the kernel runs; but `least` and `greatest`
        # of two polynomials are the smaller and the larger one, and `step.is_natural` means that a step is a number
        # that is not negative. A range does not include its end.
        raise NotImplementedError("Task 10.5: Loops for Numba")


Side = tuple[AffineExpr, int]
"""A number on the way to an address, and the width of an integer in which it must not overflow."""


class Range(NamedTuple):
    """What masks say about a loop variable: it is not less than `firsts`, and less than `ends`."""

    firsts: list[Polynomial]
    ends: list[Polynomial]


class Bound(NamedTuple):
    """What a mask says if it compares an affine number, whose only step is 1, with a number that does not vary."""

    variable: Name
    is_end: bool  # the mask holds for the indices before `limit`; otherwise, from `limit` on
    limit: Polynomial
    sides: list[Side]


class Run(NamedTuple):
    """A part of an axis, along which integers in arrays grow by a known step: 1 for `at % n`, and 0 for `at // n`."""

    variable: Name
    first: Expression
    end: Expression
    steps: dict[Value, int]

    def has(self, value: Value, index: Index) -> bool:
        return value in self.steps and index == (self.variable,)


class LoopBody:
    """The body of a nest while it is being written."""

    only_reads = False
    """Whether the program may still give up in the loops, because they write only to its own arrays."""

    run: Run | None = None

    def __init__(self, program: ProgramEmitter, shape: Sequence[int], innermost: int = -1) -> None:
        self.program = program
        self.shape, self.innermost = tuple(shape), innermost
        self.index: Index = program.plan.index(self.shape, innermost)
        self.variables = sorted((i for i in self.index if isinstance(i, Name)), key=lambda i: i.level)
        self.levels: list[list[Statement]] = [[] for _ in range(len(self.variables) + 1)]
        self.memo: dict[tuple[int, Index], Expression] = {}
        self.assumed: dict[int, Expression] = {}  # by key: masks whose value is known in part of the innermost loop
        self.written: dict[tuple[Value, Index], Expression] = {}
        self.guarded: dict[tuple[int, int, Index], tuple[bool, Expression | None]] = {}
        self.guards = True
        self.fixed = 0  # the number of outer loops that do not end before the guard that is being written
        self.bad: Name | None = None  # a variable that tells whether a load was out of bounds
        self.dependent: set[int] = set()  # values that depend on these masks

    # --- elements

    def write(self, level: int, *statements: Statement) -> None:
        self.levels[level] += statements

    def at(self, value: Value, index: Index) -> Expression:
        """One element. If the value is a scalar, the index does not matter."""
        if not is_tensor(value):
            return self.program.text(value)
        key = self.program.plan.key(value), index
        if key[0] in self.assumed:
            return self.assumed[key[0]]
        if key not in self.memo:
            self.memo[key] = self.compute(value, index)
        return self.memo[key]

    def compute(self, value: Value, index: Index) -> Expression:
        program, plan = self.program, self.program.plan
        if (done := self.written.get((value, index))) is not None:
            return done
        if self.run and self.run.has(value, index):
            form, first = kind(value.type), self.variable(value, apply("[]", program.array(value), self.run.first))
            distance = Polynomial.of(self.run.variable) - Polynomial.of(self.run.first)
            computed = apply(form, apply("+", first, apply(form, distance.expression())))
            return self.assign(value, computed) if self.run.steps[value] else first
        if value in plan.arrays and value in program.ready:
            return self.variable(value, apply("[]", program.array(value), *index))
        if value in plan.growing:
            first = self.at(plan.growing[value][0], index)
            return self.assign(value, number(value.type, apply("+", first, program.steps[value])))
        if not isinstance(value, OpResult):
            raise Unsupported(f"a {value.type} of unknown origin")
        return self.operation(value.owner, value, index)

    def assign(self, value: Value, computed: Expression) -> Expression:
        """A variable with this value; the expression itself if it is simple, or used only once and not named."""
        if is_simple(computed) or not value.name and len(value.uses) < 2 and len(str(computed)) < 60:
            return computed
        return self.variable(value, computed)

    def variable(self, value: Value, computed: Expression) -> Expression:
        """A variable with this value, assigned in the outermost possible loop."""
        variable = Name(self.program.fresh(value.name or "t"), computed.level)
        self.write(computed.level, Assign(variable, computed, line=self.program.line_of(value)))
        return variable

    def operation(self, operation: Operation, value: OpResult, index: Index) -> Expression:
        """An element of an operation's result."""
        name = operation.name
        match name:
            case "arith.constant" | "ub.poison":
                return self.program.constant(operation)
            case "tt.make_range":
                return self.assign(value, apply("int32", add(index[0], int(operation.attributes["start"]))))  # type: ignore[arg-type]
            case "tt.load":
                return self.load(operation, index)
            case "tt.join":
                return self.choose(operation, index, apply("==", index[-1], 0))
            case "tt.cat":
                return self.choose(operation, index, apply("<", index[0], shape_of(operation.operands[0].type)[0]))
            case "tt.gather":
                return self.gather(operation, index)
        operands = [self.at(operand, where) for operand, where in operands_at(operation, value, index)]
        if name in MOVED:
            return operands[0]
        if name in KNOWN and (known := KNOWN[name](*operands)) is not None:
            return known
        return self.assign(value, elementwise(operation, operands))

    def load(self, operation: Operation, index: Index) -> Expression:
        """`x[offset] if mask else other`."""
        pointer, *rest = operation.operands
        mask = self.at(rest[0], index) if rest else TRUE
        other = self.at(rest[1], index) if len(rest) > 1 else constant(operation.result.type)
        if mask == FALSE:
            return other
        where = self.guard(Access.of(operation), index)
        if where is None:
            where, mask = self.check_here(operation, self.at(pointer, index), mask)
        element = loaded(operation.result.type, self.program.element(pointer, where))
        return self.variable(operation.result, element if mask == TRUE else apply("if", mask, element, other))

    def check_here(self, load: Operation, where: Expression, mask: Expression) -> tuple[Expression, Expression]:
        """Check a load's address in the loop. Returns the address, and whether the load may access it."""
        line = self.program.line_of(load)
        if self.bad is None:
            self.bad = Name(self.program.fresh("bad"))
            self.write(0, Assign(self.bad, FALSE))
        place = where
        if not isinstance(where, Name):
            place = Name(self.program.fresh("place"), where.level)
            self.write(where.level, Assign(place, where, line=line))
        is_inside = apply("between", 0, place, self.program.length(load.operands[0]))
        ok = Name(self.program.fresh("ok"), max(place.level, mask.level))
        self.write(ok.level, Assign(ok, is_inside if mask == TRUE else both(mask, is_inside), line=line))
        wrong = apply("not", ok) if mask == TRUE else apply("!=", ok, mask)
        self.write(ok.level, Assign(self.bad, wrong, "|=", line=line))
        return place, ok

    def choose(self, operation: Operation, index: Index, is_first: Expression) -> Expression:
        """The element of the first or of the second operand."""
        first, second = (self.at(v, i) for v, i in operands_at(operation, operation.result, index))
        return self.variable(operation.result, apply("if", is_first, first, second))

    def gather(self, operation: Operation, index: Index) -> Expression:
        source, chosen = operation.operands
        axis = axis_of(operation)
        last = shape_of(source.type)[axis] - 1
        inside = apply("min", apply("max", self.at(chosen, index), 0), last)
        element = apply("[]", self.program.array(source), *index[:axis], inside, *index[axis + 1 :])
        return self.variable(operation.result, element)

    # --- what is known about indices

    def polynomial(self, value: Value, index: Index, sides: list[tuple[Polynomial, int]]) -> Polynomial | None:
        """An integer or a pointer as a polynomial of scalars and loop variables; None if it is not recognized as one.

        Adds the numbers that must not overflow to `sides`, with their widths.
        """
        plan = self.program.plan
        if known := defining(value, "arith.constant"):
            return Polynomial.of(int(known.attributes["value"]))  # type: ignore[arg-type]
        number = self.at(value, index)
        if number.level <= self.fixed:
            return Polynomial.of(number if number == ZERO or kind(value.type) == "int64" else apply("int64", number))
        if value in plan.growing:
            first = self.polynomial(plan.growing[value][0], index, sides)
            return None if first is None else first + Polynomial.of(self.program.steps[value])
        if self.run and self.run.has(value, index):
            start = Polynomial.of(apply("int64", apply("[]", self.program.array(value), self.run.first)))
            place = Polynomial.of(self.run.variable) - Polynomial.of(self.run.first)
            return start + place * self.run.steps[value]
        numbers = defining(value, "tt.make_range")
        if numbers and value not in plan.arrays and index[0] in (ZERO, *self.variables):
            return Polynomial.of(index[0]) + int(numbers.attributes["start"])  # type: ignore[arg-type]
        if value in plan.arrays or not isinstance(value, OpResult):
            return None
        return self.calculated(value, index, sides)

    def calculated(self, value: OpResult, index: Index, sides: list[tuple[Polynomial, int]]) -> Polynomial | None:
        """The polynomial of an operation's result: `polynomial`."""
        owner, name = value.owner, value.owner.name
        if name not in ARITHMETIC and name not in UNCHANGED:
            return None
        known: list[Polynomial] = []
        for operand, where in operands_at(owner, value, index):
            part = self.polynomial(operand, where, sides)
            if part is None:
                return None
            known.append(part)
        if name in ("arith.extsi", "tt.addptr") and (width := element_type(owner.operands[-1].type).width) < 64:
            sides.append((known[-1], width))
        return functools.reduce(ARITHMETIC.get(name, operator.add), known)

    def affine(self, value: Value, index: Index) -> tuple[AffineExpr, list[Side]] | None:
        """An integer or a pointer as an affine function of loop variables; None if it is not recognized as one."""
        sides: list[tuple[Polynomial, int]] = []
        polynomial = self.polynomial(value, index, sides)
        if polynomial is None:
            return None
        whole, *parts = (
            AffineExpr.of(part, self.variables[self.fixed :]) for part in (polynomial, *(side for side, _ in sides))
        )
        known = [part for part in parts if part is not None]
        if whole is None or len(known) < len(parts):
            return None
        return whole, [(part, width) for part, (_, width) in zip(known, sides, strict=True)]

    def bound(self, mask: Value, index: Index) -> Bound | None:
        """What a mask says about a loop variable, if it compares one with an invariant."""
        comparison = defining(mask, "arith.cmpi")
        if comparison is None:
            return None
        predicate = str(comparison.attributes["predicate"])
        found = [self.affine(operand, index) for operand in comparison.operands]
        if predicate not in MIRRORED or found[0] is None or found[1] is None:
            return None
        (left, sides), (right, _) = found[0], found[1]
        if right.steps and not left.steps:
            left, sides, right, predicate = right, found[1][1], left, MIRRORED[predicate]
        if right.steps or [step.number for step in left.steps.values()] != [1]:
            return None
        (variable,) = left.steps
        limit = right.base - left.base + (predicate in ("sle", "sgt"))
        width = element_type(comparison.operands[0].type).width
        return Bound(variable, predicate in ("slt", "sle"), limit, [*sides, (left, width)])

    def trim(
        self, mask: Value, index: Index, ranges: dict[Name, Range], sides: list[Side], empty: list[Expression]
    ) -> bool:
        """Narrow loop variables' ranges to where a mask can be true. Returns whether the new ranges imply the mask.

        Adds tests that a part of the mask is false, whatever the loop variables are, to `empty`.
        """
        known = self.at(mask, index)
        if known.level <= self.fixed:
            empty.extend([] if known == TRUE else [apply("not", known)])
            return True
        owner = mask.owner if isinstance(mask, OpResult) else None
        if owner and owner.name in MOVED:
            ((operand, where),) = operands_at(owner, mask, index)
            return self.trim(operand, where, ranges, sides, empty)
        if owner and owner.name == "arith.andi" and mask not in self.program.plan.arrays:
            return all([self.trim(operand, index, ranges, sides, empty) for operand in owner.operands])
        found = self.bound(mask, index)
        if found is None:
            return False
        (ranges[found.variable].ends if found.is_end else ranges[found.variable].firsts).append(found.limit)
        sides.extend(found.sides)
        return True

    # --- guards

    def guard(self, access: Access, index: Index) -> Expression | None:
        """The address of an access, which a guard keeps in bounds; None if only the loop can check it."""
        if self.guards:
            plan = self.program.plan
            key = plan.key(access.pointer), plan.key(access.mask) if access.mask is not None else -1, index
            if key not in self.guarded:
                self.guarded[key] = self.write_guard(access, index)
            is_guarded, address = self.guarded[key]
            if address or not is_guarded:
                return address
        return self.at(access.pointer, index)

    def write_guard(self, access: Access, index: Index) -> tuple[bool, Expression | None]:
        """Write a guard before the loops; if its numbers change in outer loops, before the innermost loop.

        Returns whether there is a guard, and the address if it is affine.
        """
        line = self.program.line_of(access.operation)
        sufficient = None
        for fixed in sorted({0, len(self.variables) - 1}) if self.only_reads and self.variables else [0]:
            with self.before_loop(fixed):
                condition, address = self.condition(access, index)
                if condition and address:
                    self.write(fixed, stop_unless(condition, line))
            if address:
                return True, self.address(access.pointer.name or "at", address, fixed)
            sufficient = sufficient or condition
        is_guarded = sufficient is not None or not self.only_reads
        if is_guarded:
            self.check(access, index, sufficient)
        return is_guarded, None

    @contextmanager
    def before_loop(self, fixed: int) -> Iterator[None]:
        """Inside the `with`, no mask has a known value, and variables of only `fixed` loops are used."""
        before = self.memo, self.assumed, self.fixed, self.guarded, [len(statements) for statements in self.levels]
        self.assumed, self.fixed, self.guarded = {}, fixed, dict(self.guarded)
        self.memo = {k: v for k, v in self.memo.items() if v.level <= fixed and k[0] not in self.dependent}
        yield
        found = {k: v for k, v in self.memo.items() if v.level <= fixed}
        self.memo, self.assumed, self.fixed, self.guarded, counts = before
        self.memo = found | self.memo
        for statements, count in list(zip(self.levels, counts, strict=True))[fixed + 1 :]:
            del statements[count:]

    def condition(self, access: Access, index: Index) -> tuple[Expression | None, AffineExpr | None]:
        """A condition under which an access is in bounds at all indices; the address if it is also necessary.

        The condition is None if the address is not affine, or if outer loops cannot use the condition.
        """
        mask = access.mask
        ranges = {v: Range([], []) for v in self.variables[self.fixed :]}
        sides: list[Side] = []
        empty: list[Expression] = []
        place = self.affine(access.pointer, index)
        is_exact = mask is None or self.trim(mask, index, ranges, sides, empty)
        if place is None or self.fixed and not is_exact:
            return None, None
        bounds = self.narrow(ranges, empty)
        offset, parts = place
        ends = offset.ends(bounds)
        tests = inside(ends, self.program.length(access.pointer))
        for side, width in parts:
            if (found := side.ends(bounds)) != ends:
                tests += within(found, width)
        for side, width in sides:
            tests += within(side.ends(self.whole), width)
        return either(*empty, both(*tests)), offset if is_exact else None

    def address(self, wish: str, offset: AffineExpr, fixed: int) -> Expression:
        """An affine address. What the innermost loop does not change becomes a variable of an outer loop."""
        place = offset.base
        for variable in self.variables[fixed:]:
            place = self.named(wish, place.expression(), variable.level - 1)
            place += offset.steps.get(variable, 0) * Polynomial.of(variable)
        return place.expression()

    @property
    def whole(self) -> dict[Name, tuple[Polynomial, Polynomial]]:
        """The whole range of each loop variable."""
        return {
            v: (Polynomial.of(first), Polynomial.of(end))
            for v in self.variables[self.fixed :]
            for first, end in [self.ends(v)]
        }

    def narrow(
        self, ranges: Mapping[Name, Range], empty: list[Expression]
    ) -> dict[Name, tuple[Polynomial, Polynomial]]:
        """Compute the ranges before the loops. Adds tests that a range is empty to `empty`."""
        bounds = self.whole
        for variable, (firsts, ends) in ranges.items():
            first, end = bounds[variable]
            if ends:
                end = self.named(f"{variable}_end", apply("min", *(part.expression() for part in (end, *ends))))
            if firsts:
                first = self.named(f"{variable}_first", apply("max", *(part.expression() for part in (first, *firsts))))
            if ends or firsts:
                empty.append(apply("<=", end.expression(), first.expression()))
            bounds[variable] = first, end
        return bounds

    def named(self, wish: str, value: Expression, level: int | None = None) -> Polynomial:
        """A new variable, assigned in the loop of a level; without a level, where the guard is written."""
        if is_simple(value):
            return Polynomial.of(value)
        name = Name(self.program.fresh(wish), self.fixed if level is None else level)
        self.write(name.level, Assign(name, value))
        return Polynomial.of(name)

    def check(self, access: Access, index: Index, condition: Expression | None) -> None:
        """Write loops that do nothing but check every index."""
        inner = LoopBody(self.program, self.shape, self.innermost)
        inner.guards, inner.run = False, self.run
        self.guard_behind(access, index)
        outside = apply(
            "not", apply("between", 0, inner.at(access.pointer, index), self.program.length(access.pointer))
        )
        mask = inner.at(access.mask, index) if access.mask is not None else TRUE
        bad, line = Name(self.program.fresh("bad")), self.program.line_of(access.operation)
        inner.write(-1, Assign(bad, outside if mask == TRUE else both(mask, outside), "|=", line=line))
        check = [Assign(bad, FALSE, line=line), *inner.statements(), stop_if(bad, line)]
        self.write(0, *(check if condition is None else [If(apply("not", condition), check)]))

    def guard_behind(self, access: Access, index: Index) -> None:
        """Guard the loads from which an address or a mask is computed."""
        plan = self.program.plan
        for value in access.places:
            for found, at in plan.tree(value, index, set()):
                load = defining(found, "tt.load")
                if load and found not in plan.arrays:
                    self.guard(Access.of(load), at)

    # --- the whole

    def statements(self) -> list[Statement]:
        """The nest: the statements before the loops, and the loops."""
        check = [stop_if(self.bad, 0)] if self.bad else []
        return [*self.levels[0], *self.loops(1), *check]

    def loops(self, level: int) -> list[Statement]:
        """The loop of a level with all inner loops; level 1 is the outermost loop. Empty if no loop has a statement.

        With the statement `a` in level 1 and the statement `b` in level 2, the result is
        `[For(i0, [4], [a, For(i1, [8], [b])])]`, which prints as `for i0 in range(4):` and so on.
        """
        # Task 10.5: `self.levels[level]` holds the statements directly in the loop of this level, without those of
        # inner loops. `self.variables[level - 1]` is the loop's variable, and `self.bounds(variable)` are the arguments
        # of its `range`.
        raise NotImplementedError("Task 10.5: Loops for Numba")

    def ends(self, variable: Name) -> tuple[Expression, Expression]:
        """The range of a loop variable: its first value, and the end."""
        if self.run and self.run.variable == variable:
            return self.run.first, self.run.end
        return ZERO, Number(self.size(variable))

    def bounds(self, variable: Name) -> list[Expression]:
        """The arguments of a loop's `range`."""
        first, end = self.ends(variable)
        return [end] if first == ZERO else [first, end]

    def size(self, variable: Name) -> int:
        """The number of elements along the axis of a loop variable."""
        return self.shape[self.index.index(variable)]


KNOWN: dict[str, Callable[..., Expression | None]] = {
    "arith.select": lambda mask, x, y: x if mask == TRUE else y if mask == FALSE else None,
    "arith.andi": lambda x, y: FALSE if FALSE in (x, y) else y if x == TRUE else x if y == TRUE else None,
    "arith.ori": lambda x, y: TRUE if TRUE in (x, y) else y if x == FALSE else x if y == FALSE else None,
}
"""For each operation, a function that returns its result if a mask has a known value, otherwise None."""


def inside(ends: tuple[Polynomial, Polynomial], length: Expression) -> list[Expression]:
    """Tests that offsets between two ends are in memory of this length."""
    low, high = (end.expression() for end in ends)
    if low == high:
        return [apply("between", 0, low, length)]
    return [apply("<=", 0, low), apply("<", high, length)]


def within(ends: tuple[Polynomial, Polynomial], width: int) -> list[Expression]:
    """Tests that a range fits in an integer of `width` bits; no tests if the range is known to fit."""
    limit = 2 ** (width - 1)
    if width == 64 or all(end.number is not None and -limit <= end.number < limit for end in ends):
        return []
    low, high = (end.expression() for end in ends)
    return [apply("<=", -limit, low), apply("<", high, limit)]
