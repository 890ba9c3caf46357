"""A function that is being written: its lines, and the names that can be seen where the next line stands."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tests.support.m05_frontend.random_kernels.kernel import Scalar
from tests.support.m05_frontend.random_kernels.program import Program, Value
from tests.support.m05_frontend.random_kernels.types import FLOATS, Shape, in_language

DEEPEST = 3  # blocks in blocks
_NAME = re.compile(r"\b[a-z]+\d+\b")


class Grammar(NamedTuple):
    """What there is: each function writes one kind, if something visible fits. The first are the simplest."""

    expressions: Sequence[Callable[[Function], Value | None]]
    statements: Sequence[Callable[[Function], bool]]


class Function:
    """The kernel, or a helper."""

    def __init__(
        self, program: Program, grammar: Grammar, parameters: Sequence[Value] = (), helper: bool = False
    ) -> None:
        self.program, self.grammar, self.helper = program, grammar, helper
        self.number, self.of, self.chance = program.number, program.of, program.chance
        self.prologue: list[str] = []
        self.lines: list[str] = []
        self.scopes: list[dict[str, Value]] = [{value.text: value for value in parameters}]
        self.loops: list[int] = []  # for each scope but the first, how often it runs at most; 1 for a branch
        self.read: set[str] = set()
        self.nested = False  # in an operand

    # --- lines

    def emit(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * len(self.scopes) + line)
        self.read.update(_NAME.findall(line))

    def written(self) -> list[str]:
        """All lines; of those at the start those that are used."""
        lines = self.lines
        for line in reversed(self.prologue):
            name = line.split()[0]
            if any(re.search(rf"\b{name}\b", other) for other in lines):
                lines = [line, *lines]
        return lines

    @contextlib.contextmanager
    def body(self, header: str, trips: int = 1) -> Iterator[None]:
        """The lines that follow belong to this one; names that they define are not visible outside."""
        self.emit(header)
        self.scopes.append({})
        self.loops.append(trips)
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.scopes.pop()
        self.loops.pop()

    @property
    def depth(self) -> int:
        """In how many blocks the next line stands."""
        return len(self.loops)

    @property
    def looping(self) -> bool:
        """Whether the next line is in a loop."""
        return any(trips > 1 for trips in self.loops)

    def trips(self, level: int = 0) -> int:
        """How often the next line runs at most, for each time that one at this level does."""
        return math.prod(self.loops[level:])

    # --- names

    def define(self, value: Value, name: str = "") -> Value:
        """Give a value a name."""
        name = name or self.program.fresh("v")
        self.emit(f"{name} = {value.text}")
        return self.declare(value, name)

    def declare(self, value: Value, name: str) -> Value:
        """The name now stands for this; Python's numbers become Triton's."""
        dtype = {"int": "int32", "float": "fp32"}.get(value.dtype, value.dtype)
        named = replace(value, text=name, dtype=dtype, loose=False, level=self.depth)
        self.scopes[-1][name] = named
        if self.program.asserts:
            self._assert(named)
        self.read.discard(name)
        return named

    def _assert(self, value: Value) -> None:
        """Real Triton is to find this value's type to be what it is here."""
        pointee = in_language(value.dtype.removeprefix("*"))
        dtype = f"tl.pointer_type({pointee})" if value.dtype.startswith("*") else pointee
        sizes = "".join(f" and {value.text}.shape[{axis}] == {size}" for axis, size in enumerate(value.shape))
        self.emit(
            f"tl.static_assert({value.text}.dtype == {dtype} and len({value.text}.shape) == {len(value.shape)}{sizes})"
        )

    def assign(self, target: Value, text: str, operator: str = "=") -> None:
        """A name that is visible gets another value of its type."""
        self.emit(f"{target.text} {operator} {text}")
        self.renew(target)

    def renew(self, target: Value) -> None:
        """The name has got another value of its type, which nothing has read."""
        self.read.discard(target.text)
        scope = next(scope for scope in self.scopes if target.text in scope)
        del scope[target.text]
        scope[target.text] = replace(target, tame=False)

    def at_start(self, name: str, text: str, dtype: str, shape: Shape = ()) -> Value:
        """A name that is defined where the function begins, on demand."""
        if name not in self.scopes[0]:
            self.prologue.append(f"    {name} = {text}")
            self._see_everywhere(Value(name, dtype, shape, fixed=True))
        return self.scopes[0][name]

    def _see_everywhere(self, value: Value) -> None:
        self.scopes[0] = {value.text: value, **self.scopes[0]}

    def visible(self, fits: Callable[[Value], bool]) -> list[Value]:
        """The values that fit, the latest first. Those that something has read come later, and what is fixed last."""
        found = [value for scope in reversed(self.scopes) for value in reversed(scope.values()) if fits(value)]
        return sorted(found, key=lambda value: (value.fixed, value.text in self.read))

    def pick(self, fits: Callable[[Value], bool]) -> Value | None:
        """One of the values that fit, rather one of the first."""
        found = self.visible(fits)
        return found[self.number(256) ** 2 * len(found) >> 16] if found else None

    @property
    def unread(self) -> list[Value]:
        """The newest scope's values that nothing has read."""
        return [value for value in self.scopes[-1].values() if value.text not in self.read and not value.fixed]

    # --- statements and expressions

    def statement(self) -> None:
        """Write a statement; a simple one where that which is chosen does not fit."""
        statements = self.grammar.statements
        if not self.of(statements)(self):
            statements[0](self)

    def steps(self, most: int) -> None:
        """The recipe's next steps, at most so many."""
        for _ in range(self.number(most) + 1):
            with self.program.step() as more:
                if more:
                    self.statement()

    def expression(self) -> Value | None:
        """A new expression, if one of those that are chosen fits."""
        for _ in range(3):
            if value := self.of(self.grammar.expressions)(self):
                return value
        return None

    def operand(self, fits: Callable[[Value], bool]) -> Value | None:
        """A visible value that fits, or an expression."""
        if not self.nested and self.chance(20):
            self.nested = True
            value = self.expression()
            self.nested = False
            if value is not None and fits(value):
                return value
        return self.pick(fits)

    # --- parameters, sizes, places

    def argument(self, name: str, dtype: str, values: Sequence[int | float | bool]) -> Value:
        """A scalar parameter, which can be seen from here on.

        No integer is 1: at launch it would become a constant, with a type of its own.
        """
        if name not in self.program.scalars:
            self.program.scalars[name] = Scalar(dtype, self.of(values))
            self._see_everywhere(Value(name, dtype, fixed=True, tame=dtype in FLOATS))
        return self.scopes[0][name]

    def size(self, size: int) -> str:
        """A size as it is written: a constexpr parameter's name if it has one."""
        if self.program.named and not self.helper:
            if size == self.program.columns:
                return self.program.constexpr("N", size)
            if size == self.program.rows:
                return self.program.constexpr("M", size)
        return str(size)

    def shape(self, shape: Shape) -> str:
        """A shape as it is written."""
        return f"({', '.join(map(self.size, shape))}{',' * (len(shape) == 1)})"

    def lanes(self, size: int) -> Value:
        """The numbers from 0 to `size`."""
        return self.at_start(f"r{size}", f"tl.arange(0, {self.size(size)})", "int32", (size,))

    def pid(self) -> Value:
        """This program's number in the grid."""
        text = "tl.program_id(0)"
        if self.program.grid[1] > 1:
            text = f"tl.program_id(1) * tl.num_programs(0) + {text}"
        return self.at_start("pid", text, "int32")
