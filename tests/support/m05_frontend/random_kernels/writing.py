"""Random kernels, and the tools that write them: the file, and the function whose lines are being written.

Dtypes have their names in `triton.language`; "*float32" is a pointer. Python's own numbers are "int" and "float".
"""

import contextlib
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Shape = tuple[int, ...]

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", "bfloat16", "float32", "float64")
NUMBERS = (*INTEGERS, *FLOATS)
STORED = (*NUMBERS, "int1")

MOST = 256  # elements of a block: larger ones show nothing more


def in_signature(dtype: str) -> str:
    """The dtype's name in a kernel's signature."""
    return dtype.replace("float", "fp").replace("bfp", "bf").replace("uint", "u").replace("int", "i")


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape of `x + y`; nothing where the two do not fit."""
    rank = max(len(a), len(b))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (a, b))
    if any(x != y and 1 not in (x, y) for x, y in zip(left, right, strict=True)):
        return None
    return tuple(map(max, left, right))


SCALARS: dict[str, tuple[str, tuple[int | float | bool, ...]]] = {
    "flag": ("int1", (True, False)),
    "s": ("float32", (0.5, -2.0, 3.25)),
    "m": ("int32", (7, -3, 48, 0)),
    "wide": ("int64", (1 << 40, -9 << 32)),  # real Triton passes what fits as int32
    "bits": ("uint32", (9, 0xF0F0F0F0)),
    "n": ("int32", (5, 16, 0, 3, 11)),
    "k": ("int32", (3, 0, 2, 4)),
}
"""A kernel's parameters besides its buffers. No integer is 1: at launch it would become a constant, with a type of its
own."""
CONSTEXPRS = {"C": (3, 2, 5), "FLAG": (False, True)}
LENGTH = 8192  # of what is read: more than a program reaches in a block of its own and with all steps of a pointer


@dataclass(frozen=True)
class Buffer:
    """An argument in memory: a number of elements, read or written but not both."""

    dtype: str
    length: int


@dataclass(frozen=True, repr=False)
class Kernel:
    """A file's text with one kernel, what it is specialized for, and what it may be launched with."""

    source: str
    signature: Mapping[str, str]  # of all parameters, as real Triton's ASTSource takes it
    constexprs: Mapping[str, int]
    arguments: Mapping[str, Buffer | int | float]  # of all parameters that are not constexprs, in order
    grid: tuple[int, int, int]

    def __repr__(self) -> str:
        promises = f"signature={dict(self.signature)}, constexprs={dict(self.constexprs)}, grid={self.grid}"
        return f"{self.source}\n# {promises}"


@dataclass(frozen=True)
class Value:
    """An expression: how it is written, and what real Triton makes of it."""

    text: str
    dtype: str
    shape: Shape = ()
    fixed: bool = False  # not to be assigned again

    @property
    def type(self) -> tuple[str, Shape]:
        """The dtype and the shape."""
        return self.dtype, self.shape

    @property
    def inner(self) -> str:
        """The text as an operand."""
        return self.text if re.fullmatch(r"[\w.]+(\([^()]*\)|\[[^][]*\])?", self.text) else f"({self.text})"


Fits = Callable[[Value], bool]


def kind(dtypes: Sequence[str], *ranks: int) -> Fits:
    """Whether a value has one of these dtypes and, if there are any, one of these ranks."""
    return lambda value: value.dtype in dtypes and (not ranks or len(value.shape) in ranks)


class Grammar(NamedTuple):
    """The parts of a kernel: each of the functions writes one kind, if something visible fits."""

    expressions: "Sequence[Callable[[Function], Value | None]]"
    statements: "Sequence[Callable[[Function], bool]]"
    dtypes: Sequence[str] = STORED


class Program:
    """The file: its parameters, its helpers, and the source of all choices. The first option is the simplest."""

    def __init__(self, source: random.Random, grammar: Grammar, exact: bool, helpers: Mapping[str, str]) -> None:
        self.random, self.grammar, self.exact = source, grammar, exact
        self.buffers: dict[str, Buffer] = {}
        self.scalars = {name: self.of(values) for name, (_, values) in SCALARS.items()}
        self.constexprs = {name: self.of(values) for name, values in CONSTEXPRS.items()}
        self.helpers = dict(helpers)  # their texts
        self.count = 0
        self.columns, self.rows = self.of((8, 16, 32, 4)), self.of((4, 2, 8))
        self.grid = self.of(((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1)))
        self.programs = math.prod(self.grid)
        self.left = 16  # statements at most

    def of(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.random.randrange(len(options))]

    def dtype(self, options: Sequence[str]) -> str:
        """One of these that the grammar has."""
        return self.of([dtype for dtype in options if dtype in self.grammar.dtypes])

    def chance(self, percent: int) -> bool:
        """True so often; False is the simpler one."""
        return self.random.randrange(100) >= 100 - percent

    def fresh(self, letter: str) -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def buffer(self, dtype: str, written: int = 0) -> str:
        """The name of the buffer that is read, or of a new one for so many elements in each program."""
        name = self.fresh("o") if written else f"x_{dtype}"
        self.buffers[name] = Buffer(dtype, written * self.programs or LENGTH)
        return name

    def kernel(self, lines: Sequence[str]) -> Kernel:
        """The kernel with these lines, and with no parameter or helper that they do not need."""
        text = "\n".join(lines)
        called = "\n".join([text, *self.helpers.values()])
        helpers = [helper for name, helper in self.helpers.items() if called.count(name) > 1]
        words = set(re.findall(r"\w+", text))
        arguments = {name: value for name, value in {**self.buffers, **self.scalars}.items() if name in words}
        constexprs = {name: value for name, value in self.constexprs.items() if name in words}
        header = ", ".join([*arguments, *(f"{name}: tl.constexpr" for name in constexprs)])
        functions = [f"@triton.jit\n{function}" for function in [*helpers, f"def kernel({header}):\n{text}"]]
        signature = {
            name: f"*{in_signature(it.dtype)}" if isinstance(it, Buffer) else in_signature(SCALARS[name][0])
            for name, it in arguments.items()
        }
        return Kernel(
            source="\n\n\n".join(["import triton\nimport triton.language as tl", *functions]) + "\n",
            signature=signature | dict.fromkeys(constexprs, "constexpr"),
            constexprs=constexprs,
            arguments=arguments,
            grid=self.grid,
        )


class Function:
    """The kernel, or a helper."""

    def __init__(self, program: Program, parameters: Sequence[Value] = (), helper: bool = False) -> None:
        self.program, self.helper = program, helper
        self.of, self.chance = program.of, program.chance
        self.lines: list[str] = []
        dtypes = {} if helper else {name: dtype for name, (dtype, _) in SCALARS.items()}
        scalars = [Value(name, dtype, fixed=True) for name, dtype in dtypes.items() if dtype in program.grammar.dtypes]
        self.scopes: list[dict[str, Value]] = [{value.text: value for value in (*scalars, *parameters)}]
        self.loops: list[int] = []  # for each scope but the first, how often it runs at most; 1 for a branch
        self.read: set[str] = set()
        self.nested = False  # in an operand
        first = "tl.program_id(1) * tl.num_programs(0) + " if program.grid[1] > 1 else ""
        self.pid = self.define(Value(f"{first}tl.program_id(0)", "int32"), "pid", fixed=True)

    # --- lines

    def emit(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * len(self.scopes) + line)
        self.read.update(re.findall(r"\b[a-z]+\d+\b", line))

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

    def define(self, value: Value, name: str = "", fixed: bool = False) -> Value:
        """Give a value a name."""
        name = name or self.program.fresh("v")
        self.emit(f"{name} = {value.text}")
        return self.declare(value, name, fixed)

    def declare(self, value: Value, name: str, fixed: bool = False) -> Value:
        """The name now stands for this."""
        self.scopes[-1][name] = replace(value, text=name, fixed=fixed)
        self.read.discard(name)
        return self.scopes[-1][name]

    def assign(self, target: Value, text: str, operator: str = "=") -> None:
        """A name that is visible gets another value of its type, which nothing has read."""
        self.emit(f"{target.text} {operator} {text}")
        self.read.discard(target.text)

    def pick(self, fits: Fits) -> Value | None:
        """One of the visible values that fit: rather a late one, one that nothing has read, one that is not fixed."""
        found = [value for scope in reversed(self.scopes) for value in reversed(scope.values()) if fits(value)]
        found.sort(key=lambda value: (value.fixed, value.text in self.read))
        return found[int(self.program.random.randrange(256) ** 2 * len(found) >> 16)] if found else None

    @property
    def unread(self) -> list[Value]:
        """The newest scope's values that nothing has read."""
        return [value for value in self.scopes[-1].values() if value.text not in self.read and not value.fixed]

    # --- places

    def place(self, shape: Shape) -> str:
        """A block of this shape that holds the numbers from 0 on."""
        ranges = [f"tl.arange(0, {size})" for size in shape]
        if len(ranges) == 2:
            return f"{ranges[0]}[:, None] * {shape[1]} + {ranges[1]}[None, :]"
        return ranges[0] if ranges else "0"

    def own_place(self, shape: Shape) -> str:
        """The program's own part of a buffer: as many elements as the shape has for each program."""
        return f"pid * {math.prod(shape)} + {self.place(shape)}" if shape else "pid"
