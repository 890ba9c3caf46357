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

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mini_triton.codegen.cuda_gen.layout import indented
from mini_triton.codegen.cuda_gen.scalars import kept_as, loaded, stored
from mini_triton.codegen.numba_gen.nest import Point
from mini_triton.codegen.numba_gen.plan import Index, Nest, Write, is_tensor
from mini_triton.codegen.numba_gen.plan import Store as StoreRoot
from mini_triton.codegen.numba_gen.scalars import add, held
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.ops.shape import axis_of
from mini_triton.ir.types import shape_of

if TYPE_CHECKING:
    from mini_triton.codegen.cuda_gen.program import ThreadEmitter


class ThreadPoint(Point):
    """The body of a nest, as one thread runs it."""

    program: ThreadEmitter

    def __init__(self, program: ThreadEmitter, shape: tuple[int, ...]) -> None:
        super().__init__(program, shape)
        self.guards = False
        self.layout = program.layout(shape)
        self.fast = self.index[self.layout.fastest] if self.shape else "0"
        self.levels = [[], [], []]
        self.after: list[str] = []  # lines at the end of level 1
        self.first = tuple(f"{i}_first" if i == self.fast and i != "0" else i for i in self.index)
        """The index of a vector's first element."""
        self.overwritten: set[str] = set()  # the register arrays that this nest writes

    def level(self, text: str) -> int:
        """0 for an expression without indices, 2 for one with an index within the vector, 1 otherwise."""
        names = set(self.words(text))
        if not names & {*self.variables, *self.first}:
            return 0
        return 2 if self.fast in names else 1

    @staticmethod
    def words(text: str) -> Iterator[str]:
        word = ""
        for character in f"{text} ":
            if character.isalnum() or character == "_":
                word += character
            elif word:
                yield word
                word = ""

    # --- elements

    @property
    def register(self) -> str:
        """The source of the register's number in the loops."""
        layout = self.layout
        sweep = f"sweep * {layout.vector}" if layout.vector > 1 else "sweep"
        terms = ([sweep] if layout.sweeps > 1 else []) + (["k"] if layout.vector > 1 else [])
        return " + ".join(terms) or "0"

    def compute(self, value: Value, index: Index) -> tuple[str, int]:
        program = self.program
        if (done := self.written.get((value, index))) is not None:
            return done
        if value in program.plan.arrays and program.is_ready(value):
            if index == self.index and self.layout == program.layout(shape_of(value.type)):
                text = f"{program.array(value)}[{self.register}]"
                return self.variable(value, text, 2) if program.array(value) in self.overwritten else (text, 2)
            where = self.elsewhere(value, index)
            return self.variable(value, where, self.level(where))
        return super().compute(value, index)

    def elsewhere(self, value: Value, index: Index) -> str:
        """The source of an element that a different thread may hold. All elements are shared first."""
        return self.program.share(value)(index)

    def operation(self, operation: Operation, value: OpResult, index: Index) -> tuple[str, int]:
        if operation.name != "tt.gather":
            return super().operation(operation, value, index)
        source, chosen = operation.operands
        axis = axis_of(operation)
        text, level = self.at(chosen, index)
        text = f"min(max({text}, 0), {shape_of(source.type)[axis] - 1})"
        where = self.elsewhere(source, (*index[:axis], text, *index[axis + 1 :]))
        return self.variable(value, where, max(level, self.level(where)))

    # --- memory

    def load(self, operation: Operation, index: Index) -> tuple[str, int]:
        """`x[offset] if mask else other`, or an element of a vector loaded with one instruction."""
        pointer, *rest = operation.operands
        type = operation.result.type
        self.program.reads.add(self.program.leads[pointer])
        other = self.at(rest[1], index if is_tensor(rest[1]) else ()) if len(rest) > 1 else (held(type, "0"), 0)
        width = self.program.width(operation) if index == self.index else 1
        where_index = self.first if width > 1 else index
        mask, mask_level = self.at(rest[0], where_index if is_tensor(rest[0]) else ()) if rest else ("True", 0)
        if mask == "False":
            return other
        where, level = self.at(pointer, where_index)
        memory = self.program.memory(pointer)
        if width > 1:
            mask = mask if mask == "True" else self.variable_named("mask", mask, max(1, mask_level))
            line = self.program.registers(f"{operation.result.name or 't'}_line", self.layout.vector, kept_as(type))
            prefix, mark = "" if mask == "True" else "    ", self.program.mark(operation)
            if prefix:
                self.write(1, f"if {mask}:{mark}")
            for first in range(0, self.layout.vector, width):
                self.write(1, f"{prefix}load_{width}({line}, {first}, {memory}, {add(where, str(first))}){mark}")
            text, level = loaded(type, f"{line}[k]"), 2
        else:
            text = loaded(type, f"{memory}[{where}]")
        if mask != "True":
            text, level = f"{text} if {mask} else {other[0]}", max(level, mask_level, other[1])
        return self.variable(operation.result, text, level)

    def variable_named(self, wish: str, text: str, level: int) -> str:
        name = self.program.fresh(wish)
        self.write(level, f"{name} = {text}")
        return name

    def store(self, root: StoreRoot) -> list[tuple[int, str]]:
        """The lines of a store, with their levels. Level 3 follows all elements of a vector."""
        pointer, value, *rest = root.operation.operands
        self.program.writes.add(self.program.leads[pointer])
        width = self.program.width(root.operation)
        index = self.first if width > 1 else self.index
        deepest = 2 if self.shape else 0
        mask, _ = self.at(rest[0], index if is_tensor(rest[0]) else ()) if rest else ("True", 0)
        if mask == "False":
            return []
        where, _ = self.at(pointer, index if is_tensor(pointer) else ())
        text, _ = self.at(value, self.index if is_tensor(value) else ())
        text = stored(value.type, text)
        memory, mark = self.program.memory(pointer), self.program.mark(root.operation)
        tests = [self.program.owns(self.layout) if self.shape else "thread == 0", "" if mask == "True" else mask]
        test = " and ".join(f"({t})" for t in tests if t)
        if width == 1:
            line = f"{memory}[{where}] = {text}{mark}"
            return [(deepest, f"if {test}:{mark}"), (deepest, f"    {line}")] if test else [(deepest, line)]
        line = self.program.registers(f"{value.name or 't'}_line", self.layout.vector, kept_as(value.type))
        if test:
            test = self.variable_named("mask", test, 1)
        lines = [(2, f"{line}[k] = {text}{mark}"), *([(3, f"if {test}:{mark}")] if test else [])]
        for first in range(0, self.layout.vector, width):
            call = f"store_{width}({line}, {first}, {memory}, {add(where, str(first))}){mark}"
            lines.append((3, f"    {call}" if test else call))
        return lines

    # --- the whole

    def lines(self) -> list[str]:
        """All lines: those before the loops, and the loops over sweeps and over the elements of a vector."""
        layout = self.layout
        if not self.shape or not any([*self.levels[1:], self.after]):
            return [*self.levels[0], *self.levels[1], *self.levels[2], *self.after]
        texts = layout.texts()
        middle = [f"{i} = {text}" for i, text in zip(self.index, texts, strict=True) if i not in ("0", self.fast)]
        inner = list(self.levels[2])
        if self.fast != "0":
            middle.append(f"{self.fast}_first = {texts[layout.fastest]}")
            inner.insert(0, f"{self.fast} = {self.fast}_first{' + k' if layout.vector > 1 else ''}")
        middle += self.levels[1]
        if layout.vector > 1:
            inner = [f"for k in range({layout.vector}):", *indented(inner)]
        body = [*middle, *(inner if self.levels[2] else []), *self.after]
        body = without_unused(body)
        if layout.sweeps > 1:
            body = [f"for sweep in range({layout.sweeps}):", *indented(body)]
        return [*self.levels[0], *body]


def without_unused(lines: list[str]) -> list[str]:
    """The lines, without those that define an unused index."""
    result: list[str] = []
    wanted: set[str] = set()
    for line in reversed(lines):
        name, equals, rest = line.strip().partition(" = ")
        if equals and name.removesuffix("_first")[:1] == "i" and name.removesuffix("_first")[1:].isdigit():
            if name not in wanted:
                continue
            wanted |= set(ThreadPoint.words(rest))
        else:
            wanted |= set(ThreadPoint.words(line))
        result.append(line)
    return result[::-1]


class ThreadNest(ThreadPoint):
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
                text, _ = self.at(root.value, self.index)
                target = f"{self.program.target(root.target)}[{self.register}]"
                if isinstance(root.target, Value):
                    text = self.variable_named(root.value.name or "t", text, 2)
                    self.written[root.target, self.index] = text, 2
                effects.append((2, f"{target} = {text}"))
            else:
                effects.extend(self.store(root))
        for level, line in effects:
            if level == 3:
                self.after.append(line)
            else:
                self.write(level, line)
        return self.lines()
