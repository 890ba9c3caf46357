"""A nest for one thread computes everything that the roots need, for the thread's own elements, sweep by sweep.

    for sweep in range(8):
        i0 = sweep * 8 + thread // 16           # level 1: shared by a vector's elements
        load_4(x_line, 0, x, ...)
        for k in range(4):
            i1 = thread % 16 * 4 + k            # level 2: different for each element
            ...

NVIDIA's compiler unrolls these loops, so that each element of a small array becomes a register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mini_triton.codegen.cuda_gen.layout import indented
from mini_triton.codegen.cuda_gen.scalars import kept_as, loaded, stored
from mini_triton.codegen.numba_gen.expressions import FALSE, TRUE, ZERO, Expression, Index, Name, add, apply, both
from mini_triton.codegen.numba_gen.nest import LoopBody
from mini_triton.codegen.numba_gen.plan import Access, Nest, Write
from mini_triton.codegen.numba_gen.scalars import constant
from mini_triton.codegen.numba_gen.statements import FORMS, Statement, mark, printed
from mini_triton.ir.core import Operation, Value
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter


@dataclass(frozen=True)
class Line(Statement):
    """A line of source, with its indentation."""

    text: str


FORMS[Line] = lambda it: it.text


class ThreadBody(LoopBody):
    """The body of a nest, as one thread runs it."""

    program: ThreadEmitter

    def __init__(self, program: ThreadEmitter, shape: tuple[int, ...]) -> None:
        super().__init__(program, shape)
        self.guards = False
        self.layout = program.layout(shape)
        self.fast = self.index[self.layout.fastest] if self.shape else ZERO
        self.index = tuple(i if i == ZERO else Name(str(i), 2 if i == self.fast else 1) for i in self.index)
        self.levels = [[], [], []]
        self.after: list[str] = []  # lines at the end of level 1
        self.first = tuple(Name(f"{i}_first", 1) if i == self.fast and i != ZERO else i for i in self.index)
        """The index of a vector's first element."""
        self.overwritten: set[str] = set()  # the register arrays that this nest writes

    # --- elements

    def write(self, level: int, *statements: Statement | str) -> None:
        super().write(level, *(Line(each) if isinstance(each, str) else each for each in statements))

    @property
    def register(self) -> str:
        """The source of the register's number in the loops."""
        layout = self.layout
        sweep = f"sweep * {layout.vector}" if layout.vector > 1 else "sweep"
        terms = ([sweep] if layout.sweeps > 1 else []) + (["k"] if layout.vector > 1 else [])
        return " + ".join(terms) or "0"

    def compute(self, value: Value, index: Index) -> Expression:
        program = self.program
        if (value, index) in self.written or value not in program.plan.arrays or not program.is_ready(value):
            return super().compute(value, index)
        if index == self.index and self.layout == program.layout(shape_of(value.type)):
            held = apply("[]", program.array(value), Name(self.register, 2))
            return self.variable(value, held) if program.array(value) in self.overwritten else held
        return self.variable(value, self.elsewhere(value, index))

    def elsewhere(self, value: Value, index: Index) -> Expression:
        """An element that a different thread may hold. All elements are shared first."""
        return Name(self.program.share(value)(index), max((i.level for i in index), default=0))

    def gathered(self, operation: Operation, index: Index) -> Expression:
        return self.variable(operation.result, self.elsewhere(operation.operands[0], index))

    # --- memory

    def load(self, operation: Operation, index: Index) -> Expression:
        """`x[offset] if mask else other`, or an element of a vector loaded with one instruction."""
        pointer, *rest = operation.operands
        type = operation.result.type
        self.program.reads.add(self.program.leads[pointer])
        other = self.at(rest[1], index) if len(rest) > 1 else constant(type)
        width = self.program.width(operation) if index == self.index else 1
        place = self.first if width > 1 else index
        mask = self.at(rest[0], place) if rest else TRUE
        if mask == FALSE:
            return other
        where = self.at(pointer, place)
        if width > 1:
            mask = mask if mask == TRUE else self.variable_named("mask", mask, max(1, mask.level))
            line = self.program.registers(f"{operation.result.name or 't'}_line", self.layout.vector, kept_as(type))
            prefix, shown = "" if mask == TRUE else "    ", mark(self.program.line_of(operation))
            if prefix:
                self.write(1, f"if {mask}:{shown}")
            for first in range(0, self.layout.vector, width):
                call = apply(f"load_{width}", line, first, self.program.memory(pointer), add(where, first))
                self.write(1, f"{prefix}{call}{shown}")
            element = loaded(type, apply("[]", line, Name("k", 2)))
        else:
            element = loaded(type, self.program.element(pointer, where))
        return self.variable(operation.result, element if mask == TRUE else apply("if", mask, element, other))

    def variable_named(self, wish: str, value: Expression, level: int) -> Expression:
        name = self.program.fresh(wish)
        self.write(level, f"{name} = {value}")
        return Name(name, level)

    def vector_store(self, operation: Operation) -> list[tuple[int, str]]:
        """The lines of a store, with their levels. Level 3 follows all elements of a vector."""
        access, value = Access.of(operation), operation.operands[1]
        self.program.writes.add(self.program.leads[access.pointer])
        width = self.program.width(operation)
        index = self.first if width > 1 else self.index
        mask = self.at(access.mask, index) if access.mask is not None else TRUE
        if mask == FALSE:
            return []
        where = self.at(access.pointer, index)
        kept = stored(value.type, self.at(value, self.index))
        shown = mark(self.program.line_of(operation))
        owner = self.program.owns(self.layout) if self.shape else apply("==", "thread", 0)
        tests = [test for test in (owner, mask) if test != TRUE]
        if width == 1:
            deepest = 2 if self.shape else 0
            line = f"{self.program.element(access.pointer, where)} = {kept}{shown}"
            return [(deepest, f"if {both(*tests)}:{shown}"), (deepest, f"    {line}")] if tests else [(deepest, line)]
        buffer = self.program.registers(f"{value.name or 't'}_line", self.layout.vector, kept_as(value.type))
        test = self.variable_named("mask", both(*tests), 1) if tests else TRUE
        lines = [(2, f"{buffer}[k] = {kept}{shown}"), *([(3, f"if {test}:{shown}")] if tests else [])]
        for first in range(0, self.layout.vector, width):
            call = apply(f"store_{width}", buffer, first, self.program.memory(access.pointer), add(where, first))
            lines.append((3, f"{'    ' if tests else ''}{call}{shown}"))
        return lines

    # --- the whole

    def lines(self) -> list[str]:
        """All lines: those before the loops, and the loops over sweeps and over the elements of a vector."""
        layout = self.layout
        before, own, inner = ([*printed(level)] for level in self.levels)
        if not self.shape or not any([own, inner, self.after]):
            return [*before, *own, *inner, *self.after]
        texts = layout.texts()
        middle = [f"{i} = {text}" for i, text in zip(self.index, texts, strict=True) if i not in (ZERO, self.fast)]
        has_inner = bool(inner)
        if self.fast != ZERO:
            middle.append(f"{self.fast}_first = {texts[layout.fastest]}")
            inner.insert(0, f"{self.fast} = {self.fast}_first{' + k' if layout.vector > 1 else ''}")
        middle += own
        if layout.vector > 1:
            inner = [f"for k in range({layout.vector}):", *indented(inner)]
        body = [*middle, *(inner if has_inner else []), *self.after]
        body = without_unused(body)
        if layout.sweeps > 1:
            body = [f"for sweep in range({layout.sweeps}):", *indented(body)]
        return [*before, *body]


def words(text: str) -> set[str]:
    """The names in a line."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def without_unused(lines: list[str]) -> list[str]:
    """The lines, without those that define an unused index."""
    result: list[str] = []
    wanted: set[str] = set()
    for line in reversed(lines):
        name, equals, rest = line.strip().partition(" = ")
        if equals and name.removesuffix("_first")[:1] == "i" and name.removesuffix("_first")[1:].isdigit():
            if name not in wanted:
                continue
            wanted |= words(rest)
        else:
            wanted |= words(line)
        result.append(line)
    return result[::-1]


class ThreadNestBody(ThreadBody):
    """A nest with roots."""

    def __init__(self, program: ThreadEmitter, nest: Nest) -> None:
        super().__init__(program, nest.shape)
        self.nest = nest
        self.overwritten = {program.target(root.target) for root in nest.roots if isinstance(root, Write)}

    def emit(self) -> list[str]:
        """Compute the operands of every root, then write all roots."""
        effects: list[tuple[int, str]] = []
        for root in self.nest.roots:
            if isinstance(root, Write):
                value = self.at(root.value, self.index)
                target = f"{self.program.target(root.target)}[{self.register}]"
                if isinstance(root.target, Value):
                    value = self.variable_named(root.value.name or "t", value, 2)
                    self.written[root.target, self.index] = value
                effects.append((2, f"{target} = {value}"))
            else:
                effects.extend(self.vector_store(root.operation))
        for level, line in effects:
            if level == 3:
                self.after.append(line)
            else:
                self.write(level, line)
        return self.lines()
