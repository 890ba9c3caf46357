"""What a random kernel is written with: types, the recipe that all choices come from, the file, the function.

Types are named as Triton prints them, "int8", "uint32", "fp16"; "*fp32" is a pointer. Python's numbers have no width
of their own and are "int" and "float". The rules of promotion stand here once more, in the generator's own words.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

# --- types

Shape = tuple[int, ...]

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FP8 = ("fp8e5", "fp8e4nv")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
PYTHON = ("int", "float")
NUMBERS = ("int1", *INTEGERS, *FLOATS)  # what there is arithmetic for
STORED = (*NUMBERS, *FP8)

MOST = 256  # elements of a block: larger ones show nothing more


def in_language(dtype: str) -> str:
    """The dtype's name in `triton.language`."""
    names = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    return "tl." + names.get(dtype, dtype.replace("fp8", "float8"))


def in_signature(dtype: str) -> str:
    """The dtype's name in a kernel's signature."""
    return dtype.replace("uint", "u").replace("int", "i")


def width(dtype: str) -> int:
    """The bits of a number."""
    return 8 if dtype in FP8 else int(dtype.lstrip("abfintpu"))


def promoted(a: str, b: str) -> str | None:
    """The dtype of `x + y`; nothing where that is refused, or no value of a program at all."""
    if a in PYTHON or b in PYTHON:
        return None if a in PYTHON and b in PYTHON else _with_number(*((b, a) if a in PYTHON else (a, b)))
    if a not in NUMBERS or b not in NUMBERS:
        return None
    for dtype in ("fp64", "fp32", "fp16"):
        if dtype in (a, b):
            return dtype
    if "bf16" in (a, b):
        return "bf16" if a == b else "fp32"
    narrow, wide = sorted((a, b), key=lambda dtype: (width(dtype), dtype in UNSIGNED))
    return wide


def _with_number(dtype: str, number: str) -> str | None:
    """A number has the type of the other operand, if there is a number of its kind in that."""
    if dtype not in NUMBERS or dtype in FLOATS:
        return dtype if dtype in FLOATS else None
    return "fp32" if number == "float" else "int32" if dtype == "int1" else dtype


def quotient(a: str, b: str) -> str | None:
    """The dtype of `x / y`: always a float, and a wide one."""
    both = promoted(a, b)
    if both is None or both in FLOATS:
        return both and ("fp64" if both == "fp64" else "fp32")
    return "fp32" if same_signedness(a, b) else None


def same_signedness(a: str, b: str) -> bool:
    """Whether `x // y` is accepted of two integers."""
    return (a in SIGNED and b in (*SIGNED, "int")) or (a in UNSIGNED and b in UNSIGNED)


def summed(dtype: str) -> str:
    """The dtype of a sum over a block: no integer is narrower than 32 bits."""
    return dtype if dtype in FLOATS or width(dtype) >= 32 else "int32" if dtype in SIGNED else "uint32"


def extreme(dtype: str) -> str:
    """The dtype of a block's maximum or minimum."""
    if dtype in FLOATS:
        return dtype if width(dtype) >= 32 else "fp32"
    return dtype if width(dtype) >= 32 else "int32"


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape of `x + y`; nothing where the two do not fit."""
    rank = max(len(a), len(b))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (a, b))
    if any(x != y and 1 not in (x, y) for x, y in zip(left, right, strict=True)):
        return None
    return tuple(map(max, left, right))


def elements(shape: Shape) -> int:
    """How many elements a block of this shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


# --- a kernel as data


@dataclass(frozen=True)
class Buffer:
    """An argument in memory: a number of elements, read or written but not both."""

    dtype: str  # as Triton prints it: "fp32", "int8"
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
    arguments: Mapping[str, Buffer | Scalar]  # of all parameters that are no constexprs, in order
    grid: tuple[int, int, int]

    def __repr__(self) -> str:
        promises = f"constexprs={dict(self.constexprs)}, divisible={self.divisible}, grid={self.grid}"
        return f"{self.source}\n# signature={dict(self.signature)}\n# {promises}"


# --- the file that a kernel is in

T = TypeVar("T")

IMPORTS = "import triton\nimport triton.language as tl"


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
    def type(self) -> tuple[str, Shape]:
        """The dtype and the shape."""
        return self.dtype, self.shape

    @property
    def inner(self) -> str:
        """The text as an operand."""
        return f"({self.text})" if self.loose else self.text


class Helper(NamedTuple):
    """A function that the kernel may call: its parameters without those that have defaults, and what it returns."""

    name: str
    parameters: Sequence[Value]
    results: Sequence[Value]


class Program:
    """The file: its parameters, its helpers, and the recipe that all choices come from.

    A step of the recipe is one statement; what it leaves open is chosen by its bytes. Behind the last byte all are 0,
    and 0 is always the simplest choice. A statement with a body takes the next steps into it.
    """

    def __init__(self, start: bytes, steps: Sequence[bytes], exact: bool, asserts: bool) -> None:
        self.exact, self.asserts = exact, asserts
        self.steps = deque(steps)
        self.bytes = iter(start)
        self.buffers: dict[str, Buffer] = {}
        self.scalars: dict[str, Scalar] = {}
        self.constexprs: dict[str, int | bool] = {}
        self.helpers: dict[str, str] = {}  # their texts
        self.known: list[Helper] = []  # those that may be called again
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
        """The name of a buffer with at least so many elements; one that is read may be an earlier one."""
        found = [name for name, it in self.buffers.items() if (it.dtype, it.written) == (dtype, False)]
        if written or not found or self.chance(30):
            found = [self.fresh("o" if written else "x")]
            self.buffers[found[0]] = Buffer(dtype, 0, written)
        name = self.of(found)
        self.buffers[name] = replace(self.buffers[name], length=max(self.buffers[name].length, length))
        return name

    def lengthen(self, name: str, by: int) -> None:
        """A pointer into the buffer moves by so many elements in all."""
        self.buffers[name] = replace(self.buffers[name], length=self.buffers[name].length + by)

    def constexpr(self, name: str, value: int | bool) -> str:
        """The name of a constexpr parameter."""
        self.constexprs.setdefault(name, value)
        return name

    @property
    def programs(self) -> int:
        """How many there are in the grid."""
        return math.prod(self.grid)

    # --- the result

    def kernel(self, lines: Sequence[str]) -> Kernel:
        """The kernel with these lines, and with nothing that they do not use."""
        text = "\n".join(lines)
        called = "\n".join([text, *self.helpers.values()])
        helpers = [helper for name, helper in self.helpers.items() if len(re.findall(rf"\b{name}\b", called)) > 1]
        known: dict[str, Buffer | Scalar] = {**self.buffers, **self.scalars}
        arguments = {name: it for name, it in known.items() if re.search(rf"\b{name}\b", text)}
        constexprs = {name: value for name, value in self.constexprs.items() if re.search(rf"\b{name}\b", text)}
        header = ", ".join([*arguments, *(f"{name}: tl.constexpr" for name in constexprs)])
        functions = [f"@triton.jit\n{function}" for function in [*helpers, f"def kernel({header}):\n{text}"]]
        signature = {name: "*" * isinstance(it, Buffer) + in_signature(it.dtype) for name, it in arguments.items()}
        return Kernel(
            name="kernel",
            source="\n\n\n".join([IMPORTS, *functions]) + "\n",
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


# --- a function that is being written

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
