"""A kernel that can be run: the generated function, and the loop over the launch grid."""

from __future__ import annotations

import hashlib
import linecache
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.codegen.expressions import numpy_dtype
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.codegen.library.memory import OutOfBounds
from mini_triton.codegen.library.programs import LazyPrograms, OneProgram, Programs
from mini_triton.codegen.numpy_gen import NumpyGenerator
from mini_triton.codegen.pointers import stored_to
from mini_triton.codegen.values import Mode
from mini_triton.codegen.waiting import hands_on_a_wait
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.types import PointerType, Type, shape_of

CHUNK = 2**19
"""Elements of the largest tile, over all programs that run at once: few enough to stay in a core's cache."""
np.empty(2**24, np.uint8)  # freed at once: from now on glibc keeps freed blocks of this size instead of returning them
Line = tuple[str, int]
"""Where in the kernel's source a line comes from, "file:line", and the rank of what it accesses."""


def compile_module(module: Module, mode: Mode | None = None) -> NumpyKernel:
    """The kernel of a module, whose calls are inlined. Without a mode: "fast", or "plain" if a program may wait."""
    (function,) = module.body.operations
    if mode is None:
        mode = "plain" if waits(function) or hands_on_a_wait(function) else "fast"
    generator = NumpyGenerator(function, mode)
    source = generator.source()
    types = [argument.type for argument in function.regions[0].block.arguments]
    lines = {number: line_of(operation) for number, operation in generator.line_table().items()}
    stored = stored_to(function, generator.origins)
    return NumpyKernel(str(function.attributes["sym_name"]), source, mode, types, largest_tile(function), lines, stored)


def line_of(operation: Operation) -> Line:
    """What is to be known of a line of the generated source that is for this operation."""
    place = f"{operation.loc.file}:{operation.loc.line}" if operation.loc else ""
    return place, len(shape_of(operation.operands[0].type)) if operation.operands else 0


def waits(function: Operation) -> bool:
    """Whether a program may wait for another: whether a loop's condition depends on what others do to memory."""
    # [task 6.6] A `while` whose condition reads memory spins: it has a load or an atomic among the operations of its
    # first region. Programs that run at once would wait for one another for ever.
    for operation in function.walk():
        if operation.name == "scf.while":
            condition = operation.regions[0].block.operations
            if any(o.name in ("tt.load", "tt.atomic_rmw", "tt.atomic_cas") for top in condition for o in top.walk()):
                return True
    return False
    # [end]


def argument(dtype: np.dtype, value: Any) -> Any:
    """A value as the generated function wants it, memory as elements of this dtype."""
    return value.read_as(dtype) if isinstance(value, Buffer) else np.asarray(value).astype(dtype)[()]


def largest_tile(function: Operation) -> int:
    """How many elements the largest tensor has."""
    return max((math.prod(shape_of(v.type)) for o in function.walk() for v in (*o.results, *o.operands)), default=1)


@dataclass
class NumpyKernel:
    """Runs programs of a kernel on the CPU."""

    name: str
    source: str
    mode: Mode
    types: list[Type]
    largest: int
    lines: dict[int, Line]
    stored: list[str]  # the pointer parameters that it may store to

    def __post_init__(self) -> None:
        self.dtypes = [numpy_dtype(type.pointee if isinstance(type, PointerType) else type) for type in self.types]
        self.file = f"<{self.name} {hashlib.sha256(self.source.encode()).hexdigest()[:8]}>"
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(True), self.file)
        namespace: dict[str, Any] = {}
        exec(compile(self.source, self.file, "exec"), namespace)
        self.function: Callable[..., None] = list(namespace.values())[-1]  # what the text defines last

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs of a grid with one to three axes. For each parameter there is a `Buffer` or a number.

        `reachable` is memory that is known to the kernel by addresses only. Raises `OutOfBounds`.
        """
        x, y, z = (*grid, 1, 1)[:3]
        with np.errstate(all="ignore"):  # integers wrap around, floats become infinite
            values = [argument(dtype, value) for dtype, value in zip(self.dtypes, arguments, strict=True)]
            buffers = [value for value in values if isinstance(value, Buffer)] + list(reachable)
            for programs in self.chunks((x, y, z), buffers):
                try:
                    self.function(programs, *values)
                except OutOfBounds as error:
                    self.locate(error, programs)
                    raise

    def chunks(self, grid: tuple[int, int, int], buffers: Sequence[Buffer]) -> Iterator[Programs]:
        """The programs of a grid, as many at a time as should run at once."""
        count = math.prod(grid)
        kind: type[Programs]
        match self.mode:
            case "plain":
                kind, size = OneProgram, 1
            case "batched":
                kind, size = Programs, max(1, count)
            case _:
                kind, size = LazyPrograms, self.most()
        for first in range(0, count, size):
            yield kind(grid, first, min(first + size, count), buffers)

    def most(self) -> int:
        """How many programs should run at once, so that what they compute is still in a cache when it is used."""
        # [task 6.7] So many that their largest tiles have `CHUNK` elements together. At least one.
        return max(1, CHUNK // self.largest)
        # [end]

    def locate(self, error: OutOfBounds, programs: Programs) -> None:
        """Tell an error which program it was, and in which line of the kernel."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename != self.file:
            traceback = traceback.tb_next
        line = self.lines.get(traceback.tb_lineno) if traceback else None
        if line is None:
            return
        error.place, rank = line
        leading = error.lane[0] if len(error.lane) > rank else 0
        error.program = programs.place(leading)
