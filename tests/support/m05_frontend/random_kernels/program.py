"""The file that a kernel is in: choices read off a recipe, parameters, helpers."""

from __future__ import annotations

import contextlib
import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from tests.support.m05_frontend.random_kernels.kernel import Buffer, Kernel, Scalar
from tests.support.m05_frontend.random_kernels.types import Shape, in_signature

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
