"""What a kernel is written with: choices read off a recipe, names that can be seen, lines, parameters."""

from __future__ import annotations

import contextlib
import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from tests.strategies.kernels.kernel import Buffer, Kernel, Scalar
from tests.strategies.kernels.types import Shape, in_language, in_signature

T = TypeVar("T")

IMPORTS = "import triton\nimport triton.language as tl\n"
DEEPEST = 3  # blocks in blocks
_NAME = re.compile(r"\b[a-z]+\d+\b")


@dataclass(frozen=True)
class Value:
    """An expression: how it is written, and what real Triton makes of it."""

    text: str
    dtype: str
    shape: Shape = ()
    loose: bool = False  # as an operand it needs parentheses
    tame: bool = False  # finite and within ±8
    fixed: bool = False  # not to be assigned again
    buffers: tuple[str, ...] = ()  # what a pointer may point into
    level: int = 0  # how deep a pointer's name was defined

    @property
    def inner(self) -> str:
        """The text as an operand."""
        return f"({self.text})" if self.loose else self.text


class Grammar(NamedTuple):
    """What there is: each function writes one kind, if something visible fits. The first are the simplest."""

    expressions: Sequence[Callable[[Function], Value | None]]
    statements: Sequence[Callable[[Function], bool]]


class Program:
    """The file: its parameters, its helpers, and the recipe that all choices come from.

    A step of the recipe is one statement; what it leaves open is chosen by its bytes. Behind the last byte all are 0,
    and 0 is always the simplest choice. A statement with a body takes the next steps into it.
    """

    def __init__(
        self, start: bytes, steps: Sequence[bytes], grammar: Grammar, exact: bool = False, asserts: bool = False
    ) -> None:
        self.grammar, self.exact, self.asserts = grammar, exact, asserts
        self.steps = deque(steps)
        self.bytes = iter(start)
        self.parameters: dict[str, Buffer | Scalar | int | bool] = {}
        self.helpers: list[str] = []
        self.count = 0
        self.columns = self.of((8, 16, 32, 4))
        self.rows = self.of((4, 2, 8))
        self.named = self.chance(50)  # whether sizes are constexprs
        self.grid = self.of(((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1)))
        self.divisible = self.chance(50)

    # --- choices

    def number(self, count: int) -> int:
        """One of `count` numbers."""
        return next(self.bytes, 0) * count >> 8

    def of(self, options: Sequence[T]) -> T:
        """One of the options, the first being the simplest."""
        return options[self.number(len(options))]

    def chance(self, percent: int) -> bool:
        """True so often; False is the simpler one."""
        return self.number(100) >= 100 - percent

    @contextlib.contextmanager
    def step(self) -> Iterator[bool]:
        """The recipe's next step decides inside; whether there is one."""
        before = self.bytes
        self.bytes = iter(self.steps.popleft() if (more := bool(self.steps)) else b"")
        yield more
        self.bytes = before

    # --- names and parameters

    def fresh(self, letter: str) -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def buffer(self, dtype: str, length: int, written: bool = False) -> str:
        """The name of a buffer with at least so many elements; those that are read may be an earlier one."""
        found = [name for name, it in self.parameters.items() if isinstance(it, Buffer) and it.dtype == dtype]
        found = [] if written else [name for name in found if name.startswith("x")]
        name = self.of(found) if found and not self.chance(30) else self.fresh("o" if written else "x")
        self.parameters.setdefault(name, Buffer(dtype, 0, written))
        self.reach(name, length)
        return name

    def reach(self, name: str, length: int) -> None:
        """Elements up to this one are used of a buffer."""
        self._resize(name, max(self._length(name), length))

    def lengthen(self, name: str, by: int) -> None:
        """A pointer into the buffer moves by so many elements in all."""
        self._resize(name, self._length(name) + by)

    def _length(self, name: str) -> int:
        buffer = self.parameters[name]
        assert isinstance(buffer, Buffer)
        return buffer.length

    def _resize(self, name: str, length: int) -> None:
        buffer = self.parameters[name]
        assert isinstance(buffer, Buffer)
        self.parameters[name] = replace(buffer, length=length)

    def scalar(self, name: str, dtype: str, values: Sequence[int | float | bool]) -> Value:
        """A scalar parameter. No integer is 1: at launch it would become a constant, with a type of its own."""
        if name not in self.parameters:
            self.parameters[name] = Scalar(dtype, self.of(values))
        return Value(name, dtype, fixed=True, tame=dtype.startswith("fp"))

    def constexpr(self, name: str, value: int | bool) -> str:
        """The name of a constexpr parameter."""
        self.parameters.setdefault(name, value)
        return name

    @property
    def programs(self) -> int:
        """How many there are in the grid."""
        return math.prod(self.grid)

    # --- the result

    def kernel(self, lines: Sequence[str]) -> Kernel:
        """The kernel with these lines."""
        ordered = sorted(self.parameters.items(), key=lambda item: not isinstance(item[1], Buffer))
        ordered.sort(key=lambda item: isinstance(item[1], int))
        arguments = {name: it for name, it in ordered if not isinstance(it, int)}
        constexprs = {name: it for name, it in ordered if isinstance(it, int)}
        header = ", ".join([*arguments, *(f"{name}: tl.constexpr" for name in constexprs)])
        functions = [*self.helpers, "\n".join([f"@triton.jit\ndef kernel({header}):", *lines])]
        signature = {name: "*" * isinstance(it, Buffer) + in_signature(it.dtype) for name, it in arguments.items()}
        return Kernel(
            name="kernel",
            source="\n\n\n".join([IMPORTS.rstrip(), *functions]) + "\n",
            signature=signature | dict.fromkeys(constexprs, "constexpr"),
            constexprs=constexprs,
            divisible=tuple(name for name, argument in arguments.items() if self._promised(argument)),
            arguments=arguments,
            grid=self.grid,
        )

    def _promised(self, argument: Buffer | Scalar) -> bool:
        """Whether it is said to be a multiple of 16, as the launcher would."""
        if isinstance(argument, Buffer):
            return self.divisible
        return self.divisible and argument.dtype in ("int32", "int64") and argument.value % 16 == 0


class Function:
    """A function that is being written: its lines, and the names that can be seen where the next line stands."""

    def __init__(self, program: Program, parameters: Sequence[Value] = (), helper: bool = False) -> None:
        self.program, self.helper = program, helper
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
            self.scopes[0] = {name: Value(name, dtype, shape, fixed=True), **self.scopes[0]}
        return self.scopes[0][name]

    def visible(self, fits: Callable[[Value], bool]) -> list[Value]:
        """The values that fit: the latest first, those before them that nothing has read, and last what is fixed."""
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
        statements = self.program.grammar.statements
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
            if value := self.of(self.program.grammar.expressions)(self):
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

    # --- sizes and places

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
