"""A kernel that can run: the generated function, and the loop over the launch grid."""

from __future__ import annotations

import copy
import functools
import hashlib
import linecache
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.analysis.pointers import Origins, constants, origins, stored_to, waits
from mini_triton.codegen.emitter import Handler, Mode
from mini_triton.codegen.library.programs import LazyPrograms, Programs, Schedule
from mini_triton.codegen.library.threads import largest_product, threads_for
from mini_triton.codegen.numpy_gen import HANDLERS, generate
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.device_assert import DeviceAssertionError
from mini_triton.ir.storage import Buffer, OutOfBounds, numpy_dtype
from mini_triton.ir.types import PointerType, Type, shape_of

CHUNK = 2**19
"""The maximum number of elements of the largest tile in a chunk, so that the chunk's tiles fit in a core's cache."""
Line = tuple[str, int]
"""The source location, as "file:line", and the rank of the access behind a generated line."""


def compile_module(module: Module, mode: Mode = "fast", handlers: Mapping[str, Handler] = HANDLERS) -> NumpyKernel:
    """The kernel of a module whose calls are inlined. `handlers` write its operations."""
    (function,) = module.body.operations
    leads = origins(function)
    source, operations = generate(function, mode, leads, handlers)
    types = [argument.type for argument in function.regions[0].block.arguments]
    chunk = sys.maxsize if mode == "batched" else chunk_size(function, leads)
    lines = {number: line_of(operation) for number, operation in operations.items()}
    name = str(function.attributes["sym_name"])
    memory = stored_to(function, leads), constants(function, leads)
    return NumpyKernel(name, source, mode, types, chunk, lines, *memory, largest_product(function))


@functools.cache
def keep_blocks() -> None:
    """Free a block of 16 MiB, once: this makes glibc keep such blocks, instead of returning them to the system."""
    np.empty(2**24, np.uint8)


def line_of(operation: Operation) -> Line:
    """The source location and the rank behind a generated line."""
    place = f"{operation.loc.file}:{operation.loc.line}" if operation.loc else ""
    return place, len(shape_of(operation.operands[0].type)) if operation.operands else 0


def chunk_size(function: Operation, leads: Origins) -> int:
    """How many programs to run at once: one if they may wait for each other, otherwise as many as fit in the cache."""
    if waits(function, leads):
        return 1
    # Task 6.11: If the largest tensor anywhere in the function has 1024 elements, the result is `CHUNK // 1024`. A
    # function without tensors gives `CHUNK`.
    raise NotImplementedError("Task 6.11: Slices and chunks")


def argument(dtype: np.dtype, value: Any) -> Any:
    """An argument of the generated function: a `Buffer` with elements of this dtype, or a number of this dtype."""
    return value.read_as(dtype) if isinstance(value, Buffer) else np.asarray(value).astype(dtype)[()]


@dataclass
class NumpyKernel:
    """Runs programs of a kernel on the CPU."""

    name: str
    source: str
    mode: Mode
    types: list[Type]
    chunk: int
    lines: dict[int, Line]
    stored: list[str]  # the names of the pointer parameters to which the kernel may store
    constants: list[int]  # the positions of the pointer parameters to which it does not store
    work: int  # multiplications in the largest product of tiles

    def __post_init__(self) -> None:
        self.dtypes = [numpy_dtype(type.pointee if isinstance(type, PointerType) else type) for type in self.types]
        self.file = f"<{self.name} {hashlib.sha256(self.source.encode()).hexdigest()[:8]}>"
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(True), self.file)
        self.code = compile(self.source, self.file, "exec")
        self.function = self.build({})
        keep_blocks()

    def build(self, library: Mapping[str, Any]) -> Callable[..., None]:
        """The generated function. `library` replaces modules that the function uses, such as `memory`."""
        namespace: dict[str, Any] = {}
        exec(self.code, namespace)
        function = list(namespace.values())[-1]  # the last definition in the source
        namespace.update(library)
        return function

    def with_library(self, library: Mapping[str, Any]) -> NumpyKernel:
        """The same kernel, with other modules in the place of those that its function uses."""
        other = copy.copy(self)
        other.function = self.build(library)
        return other

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs of a grid with one to three axes. `arguments` has a `Buffer` or a number for each parameter.

        `reachable` is memory that the kernel reaches only through addresses. Raises `OutOfBounds` and
        `DeviceAssertionError`.
        """
        x, y, z = (*grid, 1, 1)[:3]
        with np.errstate(all="ignore"), threads_for(self.work):  # integers wrap around, floats become infinite
            values = [argument(dtype, value) for dtype, value in zip(self.dtypes, arguments, strict=True)]
            buffers = [value for value in values if isinstance(value, Buffer)] + list(reachable)
            written = [value for place, value in enumerate(values) if place not in self.constants]
            for place in self.constants:  # loads need not copy memory that is never written
                values[place] = values[place].unless_among(written)

            def run_next() -> bool:
                if (programs := next(left, None)) is not None:
                    self.run(programs, values)
                return programs is not None

            left = self.chunks((x, y, z), buffers, Schedule(run_next).wait)
            while run_next():
                pass

    def run(self, programs: Programs, values: Sequence[Any]) -> None:
        """Run a chunk of programs."""
        try:
            self.function(programs, *values)
        except (OutOfBounds, DeviceAssertionError) as error:
            if not error.kernel:  # otherwise, the error is in a program that these programs were waiting for
                self.locate(error)
            raise

    def chunks(
        self, grid: tuple[int, int, int], buffers: Sequence[Buffer], wait: Callable[[], None]
    ) -> Iterator[Programs]:
        """The programs of a grid, in chunks that run at once."""
        kind = LazyPrograms if self.mode == "fast" else Programs
        count = math.prod(grid)
        for first in range(0, count, self.chunk):
            yield kind(grid, first, min(first + self.chunk, count), buffers, wait)

    def locate(self, error: OutOfBounds | DeviceAssertionError) -> None:
        """Add the program, and the line of the kernel, to an error."""
        error.kernel = self.name
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename != self.file:
            traceback = traceback.tb_next
        if traceback is None or traceback.tb_lineno not in self.lines:
            return
        error.place, rank = self.lines[traceback.tb_lineno]
        leading = error.lane[0] if len(error.lane) > rank else 0
        error.program = traceback.tb_frame.f_locals["programs"].place(leading)  # in a loop, only those still in it
