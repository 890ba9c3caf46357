"""A nest with roots: what it writes, and where its innermost loop is split. (Given.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mini_triton.codegen.numba_gen.expressions import (
    FALSE,
    TRUE,
    ZERO,
    Apply,
    Expression,
    Index,
    Name,
    Number,
    apply,
    both,
)
from mini_triton.codegen.numba_gen.nest import LoopBody, Run, within
from mini_triton.codegen.numba_gen.plan import LEAST_SPLIT, Access, Nest, Plan, Store, Work, Write, defining
from mini_triton.codegen.numba_gen.scalars import stored
from mini_triton.codegen.numba_gen.statements import Assign, For, If, Statement, While, stop_unless
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.types import IntegerType, element_type, shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.program import ProgramEmitter


class Split(NamedTuple):
    """Where the innermost loop is split: the key of the mask that changes there, and its values before and after."""

    key: int
    end: Expression
    tests: list[Expression]
    before: Expression
    after: Expression


def is_row_of_integers(value: Value) -> bool:
    shape, element = shape_of(value.type), element_type(value.type)
    return len(shape) == 1 and shape[0] >= LEAST_SPLIT and isinstance(element, IntegerType) and element.width > 1


def is_first_factor(target: object) -> bool:
    """Whether an array holds a matrix that is the first one of a product."""
    return isinstance(target, Work) and (target.operation.name, target.number) == ("tt.dot", 0)


def innermost(plan: Plan, nest: Nest) -> int:
    """The axis along which all accesses of a nest are consecutive; the last axis if there are several or none.

    Accesses that are far apart would each need a different line of the cache. If the nest stores nothing, its loads
    decide, because the first matrix of a product may have its rows or its columns one after the other.
    """
    pointers = [root.operation.operands[0] for root in nest.roots if isinstance(root, Store)]
    if all(isinstance(root, Write) and is_first_factor(root.target) for root in nest.roots):
        loads = [pair for root in nest.roots for pair in plan.loads(root)]
        index = plan.index(nest.shape)
        pointers = [load.operands[0] for load, _ in loads] if all(at == index for _, at in loads) else []
    axes = [axis for axis, size in enumerate(nest.shape) if size >= LEAST_SPLIT]
    consecutive = [axis for axis in axes if pointers and all(plan.step(pointer, axis) == 1 for pointer in pointers)]
    return consecutive[-1] if consecutive else -1


class NestBody(LoopBody):
    """A nest with roots."""

    def __init__(self, program: ProgramEmitter, nest: Nest) -> None:
        super().__init__(program, nest.shape, innermost(program.plan, nest))
        self.nest = nest
        self.only_reads = not any(isinstance(root, Store) for root in nest.roots)

    @property
    def pulled(self) -> list[tuple[Value, Index]]:
        """All values computed or read in the nest, with their indices."""
        return [pair for root in self.nest.roots for pair in self.program.plan.pulled(root, self.innermost)]

    def emit(self) -> list[Statement]:
        """The nest, once for each run. An axis with a single array has one run as a rule: LLVM then knows its size."""
        run = self.find_run()
        if run is None:
            return self.emit_split()
        variable, first, end, steps = run
        size = Number(self.size(variable))
        if len(steps) == 1:
            quick, (value,) = NestBody(self.program, self.nest), steps
            quick.run = Run(variable, ZERO, size, steps)
            test = apply("==", apply("end_of_run", self.program.array(value), 0, 1), size)
            return [If(test, quick.emit_split(), self.emit_split())]
        self.run = run
        ends = [apply("end_of_run", self.program.array(value), first, step) for value, step in steps.items()]
        body = [Assign(end, apply("min", *ends)), *self.emit_split(), Assign(first, end)]
        return [Assign(first, ZERO), While(apply("<", first, size), body)]

    def find_run(self) -> Run | None:
        """The innermost axis along which an integer counts up from which addresses are computed."""
        plan = self.program.plan
        addresses = [(root.operation.operands[0], self.index) for root in self.nest.roots if isinstance(root, Store)]
        for value, at in self.pulled:
            if (load := defining(value, "tt.load")) and value not in self.program.ready:
                addresses.append((load.operands[0], at))
        seen: set[tuple[Value, Index]] = set()
        behind = [pair for address in addresses for pair in plan.tree(*address, seen)]
        kept = plan.arrays & self.program.ready
        numbers = [(value, at) for value, at in behind if value in kept and is_row_of_integers(value)]
        for variable in reversed(self.variables):
            steps = {
                value: step for value, at in numbers if at == (variable,) and (step := plan.step(value, 0)) in (0, 1)
            }
            if 1 in steps.values():
                first, end = (Name(self.program.fresh(f"{variable}_{name}")) for name in ("first", "end"))
                return Run(variable, first, end, steps)
        return None

    def emit_split(self) -> list[Statement]:
        """The nest. If a mask ends within the innermost loop, this loop has two parts."""
        split = self.find_split()
        if split is None:
            self.roots()
            return self.statements()
        innermost, depth = self.variables[-1], len(self.variables)
        if split.tests:
            self.write(0, stop_unless(both(*split.tests), 0))
        end = self.named(f"{innermost}_end", split.end).expression()
        inner: list[Statement] = []
        first, last = self.ends(innermost)
        for known, *bounds in ((split.before, *([] if first == ZERO else [first]), end), (split.after, end, last)):
            self.memo = {k: v for k, v in self.memo.items() if v.level < depth and k[0] not in self.dependent}
            self.written.clear()
            self.assumed = {split.key: known}
            self.roots()
            part, self.levels[-1] = self.levels[-1], []
            if part:
                inner.append(For(innermost, bounds, part))
        self.levels[-2] += inner
        return self.statements()

    def roots(self) -> None:
        """Compute the operands of every root, then write all roots."""
        effects: list[Statement] = []
        for root in self.nest.roots:
            if isinstance(root, Write):
                value = self.at(root.value, self.index)
                target = apply("[]", self.program.target(root.target), *self.index)
                if isinstance(root.target, Value):
                    if isinstance(value, Apply):
                        value = self.variable(root.value, value)
                    self.written[root.target, self.index] = value
                effects.append(Assign(target, value, line=self.program.line_of(root.value)))
            else:
                effects.extend(self.store(root.operation))
        self.levels[-1] += effects

    def store(self, operation: Operation) -> list[Statement]:
        """The statements of a store."""
        access, value = Access.of(operation), operation.operands[1]
        mask = self.at(access.mask, self.index) if access.mask is not None else TRUE
        if mask == FALSE:
            return []
        kept = stored(value.type, self.at(value, self.index))
        where = self.guard(access, self.index)
        assert where is not None
        line = self.program.line_of(operation)
        assignment = Assign(self.program.element(access.pointer, where), kept, line=line)
        return [assignment if mask == TRUE else If(mask, [assignment], line=line)]

    def find_split(self) -> Split | None:
        """Where to split the innermost loop: at the end of the most frequent mask; None if no mask ends in it."""
        if not self.variables or self.size(self.variables[-1]) < LEAST_SPLIT:
            return None
        innermost, plan = self.variables[-1], self.program.plan
        for places in sorted(self.comparisons().values(), key=len, reverse=True):
            value, index = places[-1]
            found = self.bound(value, index) if all(at == index for _, at in places) else None
            if found is not None and found.variable == innermost:
                self.dependent = self.find_dependent(plan.key(value))
                tests = [test for side, width in found.sides for test in within(side.ends(self.whole), width)]
                first, last = self.ends(innermost)
                end = apply("max", first, apply("min", last, found.limit.expression()))
                known = (TRUE, FALSE) if found.is_end else (FALSE, TRUE)
                return Split(plan.key(value), end, list(dict.fromkeys(tests)), *known)
        return None

    def comparisons(self) -> dict[int, list[tuple[Value, Index]]]:
        """By key: the integer comparisons that the nest computes, with their indices."""
        plan = self.program.plan
        found: dict[int, list[tuple[Value, Index]]] = {}
        for value, index in self.pulled:
            if defining(value, "arith.cmpi") and value not in plan.arrays:
                found.setdefault(plan.key(value), []).append((value, index))
        return found

    def find_dependent(self, key: int) -> set[int]:
        """The keys of all values in the nest that depend on the mask with this key."""
        plan = self.program.plan
        found = {key}
        values = {value for value, _ in self.pulled if isinstance(value, OpResult)}
        for value in sorted(values, key=lambda value: plan.order[value.owner]):
            if any(plan.key(operand) in found for operand in value.owner.operands):
                found.add(plan.key(value))
        return found
