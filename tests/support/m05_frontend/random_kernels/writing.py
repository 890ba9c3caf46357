"""What a random kernel is written with: the file, and the function whose lines are being written."""

from __future__ import annotations

import contextlib
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from tests.support.m05_frontend.random_kernels.types import (
    FLOATS,
    MOST,
    Shape,
    broadcast,
    elements,
    in_signature,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Buffer:
    """An argument in memory: a number of elements, read or written but not both."""

    dtype: str
    length: int
    written: bool = False


@dataclass(frozen=True)
class Scalar:
    """An argument that is passed as it is."""

    dtype: str
    value: int | float | bool


@dataclass(frozen=True, repr=False)
class Kernel:
    """A file's text with one kernel, what it is specialised for, and what it may be launched with."""

    name: str
    source: str
    signature: Mapping[str, str]  # of all parameters, as real Triton's ASTSource takes it
    constexprs: Mapping[str, int | bool]
    divisible: tuple[str, ...]  # parameters that are promised to be multiples of 16
    arguments: Mapping[str, Buffer | Scalar]  # of all parameters that are not constexprs, in order
    grid: tuple[int, int, int]

    def __repr__(self) -> str:
        promises = f"constexprs={dict(self.constexprs)}, divisible={self.divisible}, grid={self.grid}"
        return f"{self.source}\n# signature={dict(self.signature)}\n# {promises}"


@dataclass(frozen=True)
class Value:
    """An expression: how it is written, and what real Triton makes of it."""

    text: str
    dtype: str
    shape: Shape = ()
    tame: bool = False  # finite and within ±8
    fixed: bool = False  # not to be assigned again
    buffers: tuple[str, ...] = ()  # what a pointer may point into

    @property
    def type(self) -> tuple[str, Shape]:
        """The dtype and the shape."""
        return self.dtype, self.shape

    @property
    def inner(self) -> str:
        """The text as an operand."""
        return self.text if re.fullmatch(r"[\w.]+(\([^()]*\)|\[[^][]*\])?", self.text) else f"({self.text})"


Fits = Callable[[Value], bool]


def kind(dtypes: Sequence[str], *ranks: int, tame: bool = False) -> Fits:
    """Whether a value has one of these dtypes and, if there are any, one of these ranks."""
    return lambda value: value.dtype in dtypes and (not ranks or len(value.shape) in ranks) and value.tame >= tame


def fitting(a: Value, fits: Fits) -> Fits:
    """The other values that can be in an operation with `a`, and that do not make it large."""

    def fits_both(b: Value) -> bool:
        shape = broadcast(a.shape, b.shape)
        return fits(b) and b.text != a.text and shape is not None and elements(shape) <= MOST

    return fits_both


class Grammar(NamedTuple):
    """What a kernel may consist of: each of the functions writes one kind, if something visible fits."""

    expressions: Sequence[Callable[[Function], Value | None]]
    statements: Sequence[Callable[[Function], bool]]


class Program:
    """The file: its parameters, its helpers, and the source of all choices. The first option is the simplest."""

    def __init__(self, source: random.Random, grammar: Grammar, exact: bool) -> None:
        self.random, self.grammar, self.exact = source, grammar, exact
        self.buffers: dict[str, Buffer] = {}
        self.scalars: dict[str, Scalar] = {}
        self.constexprs: dict[str, int | bool] = {}
        self.helpers: dict[str, str] = {}  # their texts
        self.count = 0
        self.columns, self.rows = self.of((8, 16, 32, 4)), self.of((4, 2, 8))
        self.named = self.chance(50)  # whether sizes are constexprs
        self.grid = self.of(((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1)))
        self.programs = math.prod(self.grid)
        self.divisible = self.chance(50)
        self.left = 16  # statements at most

    def of(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        """True so often; False is the simpler one."""
        return self.random.randrange(100) >= 100 - percent

    def fresh(self, letter: str) -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def buffer(self, dtype: str, length: int, written: bool = False) -> str:
        """The name of a buffer with at least so many elements; one that is read may be an earlier one."""
        found = [name for name, it in self.buffers.items() if (it.dtype, it.written) == (dtype, False)]
        if written or not found or self.chance(30):
            found = [self.fresh("o" if written else "x")]
            self.buffers[found[0]] = Buffer(dtype, 0, written)
        name = self.of(found)
        self.lengthen(name, max(0, length - self.buffers[name].length))
        return name

    def lengthen(self, name: str, by: int) -> None:
        """The buffer needs so many elements more."""
        self.buffers[name] = replace(self.buffers[name], length=self.buffers[name].length + by)

    def constexpr(self, name: str, value: int | bool) -> str:
        """The name of a constexpr parameter."""
        self.constexprs.setdefault(name, value)
        return name

    def kernel(self, lines: Sequence[str]) -> Kernel:
        """The kernel with these lines, and with nothing that they do not use."""
        text = "\n".join(lines)
        called = "\n".join([text, *self.helpers.values()])
        helpers = [helper for name, helper in self.helpers.items() if len(re.findall(rf"\b{name}\b", called)) > 1]
        words = set(re.findall(r"\w+", text))
        known: dict[str, Buffer | Scalar] = {**self.buffers, **self.scalars}
        arguments = {name: it for name, it in known.items() if name in words}
        constexprs = {name: value for name, value in self.constexprs.items() if name in words}
        header = ", ".join([*arguments, *(f"{name}: tl.constexpr" for name in constexprs)])
        functions = [f"@triton.jit\n{function}" for function in [*helpers, f"def kernel({header}):\n{text}"]]
        signature = {name: "*" * isinstance(it, Buffer) + in_signature(it.dtype) for name, it in arguments.items()}
        return Kernel(
            name="kernel",
            source="\n\n\n".join(["import triton\nimport triton.language as tl", *functions]) + "\n",
            signature=signature | dict.fromkeys(constexprs, "constexpr"),
            constexprs=constexprs,
            divisible=tuple(name for name, argument in arguments.items() if self.divisible and _promised(argument)),
            arguments=arguments,
            grid=self.grid,
        )


def _promised(argument: Buffer | Scalar) -> bool:
    """Whether the launcher would find a multiple of 16."""
    return isinstance(argument, Buffer) or argument.dtype in ("int32", "int64") and argument.value % 16 == 0


class Function:
    """The kernel, or a helper."""

    def __init__(self, program: Program, parameters: Sequence[Value] = (), helper: bool = False) -> None:
        self.program, self.helper = program, helper
        self.of, self.chance = program.of, program.chance
        self.prologue: dict[str, str] = {}
        self.lines: list[str] = []
        self.scopes: list[dict[str, Value]] = [{value.text: value for value in parameters}]
        self.loops: list[int] = []  # for each scope but the first, how often it runs at most; 1 for a branch
        self.read: set[str] = set()
        self.nested = False  # in an operand

    # --- lines

    def emit(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * len(self.scopes) + line)
        self.read.update(re.findall(r"\b[a-z]+\d+\b", line))

    def written(self) -> list[str]:
        """All lines; of those at the start those that are used."""
        lines = self.lines
        for name, line in reversed(self.prologue.items()):
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
    def trips(self) -> int:
        """How often the next line runs at most."""
        return math.prod(self.loops)

    # --- names

    def define(self, value: Value, name: str = "") -> Value:
        """Give a value a name; Python's numbers become Triton's."""
        name = name or self.program.fresh("v")
        self.emit(f"{name} = {value.text}")
        return self.declare(value, name)

    def declare(self, value: Value, name: str) -> Value:
        """The name now stands for this."""
        self.scopes[-1][name] = replace(value, text=name, fixed=False)
        self.read.discard(name)
        return self.scopes[-1][name]

    def unpack(self, text: str, *values: Value) -> None:
        """New names for the results of a call."""
        names = [self.program.fresh("v") for _ in values]
        self.emit(f"{', '.join(names)} = {text}")
        for name, value in zip(names, values, strict=True):
            self.declare(value, name)

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
            self.prologue[name] = f"    {name} = {text}"
            self._see_everywhere(Value(name, dtype, shape, fixed=True))
        return self.scopes[0][name]

    def _see_everywhere(self, value: Value) -> None:
        self.scopes[0] = {value.text: value, **self.scopes[0]}

    def pick(self, fits: Fits) -> Value | None:
        """One of the visible values that fit: rather a late one, one that nothing has read, one that is not fixed."""
        found = [value for scope in reversed(self.scopes) for value in reversed(scope.values()) if fits(value)]
        found.sort(key=lambda value: (value.fixed, value.text in self.read))
        return found[int(self.program.random.randrange(256) ** 2 * len(found) >> 16)] if found else None

    @property
    def unread(self) -> list[Value]:
        """The newest scope's values that nothing has read."""
        return [value for value in self.scopes[-1].values() if value.text not in self.read and not value.fixed]

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
            for name, known in (("N", self.program.columns), ("M", self.program.rows)):
                if size == known:
                    return self.program.constexpr(name, size)
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

    def place(self, shape: Shape) -> str:
        """A block of this shape that holds the numbers from 0 on."""
        if len(shape) < 2:
            return self.lanes(*shape).text if shape else "0"
        rows, columns = (self.lanes(size).text for size in shape)
        if 1 in shape:
            return f"{rows}[:, None]" if shape[1] == 1 else f"{columns}[None, :]"
        text = f"{rows}[:, None] * {self.size(shape[1])} + {columns}[None, :]"
        return self.at_start(f"{rows}x{shape[1]}", text, "int32", shape).text

    def own_place(self, shape: Shape) -> str:
        """The program's own part of a buffer: as many elements as the shape has for each program."""
        start = f"{self.pid().text} * {elements(shape)}"
        return f"{start} + {self.place(shape)}" if shape else self.pid().text
