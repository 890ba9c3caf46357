"""The elements of memory that each load and store accesses, with their programs and lanes.

This module runs some programs of the launch as generated NumPy code. An `AccessRecorder` replaces the library of this
code: it records the offsets of each access, and continues after an out-of-bounds access.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mini_triton.analysis.pointers import origins
from mini_triton.codegen import NumpyKernel
from mini_triton.codegen.kernel import argument
from mini_triton.codegen.library import addresses, atomics, memory
from mini_triton.codegen.library.lazy import Array, stored
from mini_triton.codegen.library.lenient import Lenient, within
from mini_triton.codegen.library.programs import LazyPrograms, Programs
from mini_triton.codegen.numpy_gen import generate
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.ops.memory import pointee
from mini_triton.ir.storage import Buffer, numpy_dtype
from mini_triton.ir.types import shape_of
from mini_triton.runtime.arguments import is_memory, to_python
from mini_triton.runtime.reach import known
from mini_triton.tools.explore.subject import Subject

FIRST, LAST = 12, 4
"""In a large grid, the number of programs to show at the beginning, and at the end."""
ROUNDS = 12
"""The number of iterations of a loop to show."""


@dataclass(frozen=True)
class Touch:
    """One execution of an access by one program: an offset into memory for each lane of the tile."""

    program: tuple[int, int, int]
    round: int  # how often the program executed the access before
    offsets: np.ndarray
    active: np.ndarray  # lanes that are not masked off


@dataclass
class Access:
    """A load, a store or an atomic operation, and its executions."""

    operation: Operation
    buffer: Buffer
    touches: list[Touch] = field(default_factory=list)
    rounds: int = 0  # of all programs

    @property
    def tile(self) -> tuple[int, ...]:
        """The shape of the tile."""
        return shape_of(self.operation.operands[0].type)

    @property
    def itemsize(self) -> int:
        return numpy_dtype(pointee(self.operation.operands[0].type)).itemsize

    def outside(self, touch: Touch) -> np.ndarray:
        """The lanes of a touch that are out of bounds."""
        return touch.active & ~within(self.buffer, touch.offsets)


# --- running programs


class AccessRecorder(Lenient):
    """A module of the library that passes each access to `record` before executing it."""

    def __init__(self, module: types.ModuleType, record: Any) -> None:
        super().__init__(module, lambda *_: None)
        self.record = record

    def load(self, memory: Any, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
        self.record(sys._getframe(1), memory, offset, mask)
        return super().load(memory, offset, mask, other)

    def store(self, memory: Any, offset: Array, value: Array, mask: Array | None = None) -> None:
        self.record(sys._getframe(1), memory, offset, mask)
        super().store(memory, offset, value, mask)

    def rmw(self, name: str, memory: Any, offset: Array, value: Array, shape: Any, *mask: Any, **options: Any) -> Array:
        self.record(sys._getframe(1), memory, offset, *(mask or [options.get("mask")]))
        return super().rmw(name, memory, offset, value, shape, *mask, **options)

    def cas(self, memory: Any, offset: Array, expected: Array, value: Array, shape: Any, mask: Any = None) -> Array:
        self.record(sys._getframe(1), memory, offset, mask)
        return super().cas(memory, offset, expected, value, shape, mask)


class Notes:
    """The accesses of a kernel, in the order of its lines."""

    def __init__(self, operations: Mapping[int, Operation]) -> None:
        self.operations = operations  # by line of the generated code
        self.accesses: dict[int, Access] = {}
        self.rounds: dict[int, int] = {}  # by line, for the programs currently running

    def add(self, frame: types.FrameType, target: Buffer | Sequence[Buffer], offset: Array, mask: Array | None) -> None:
        """Record an access that a line of the generated code is about to execute."""
        line, programs = frame.f_lineno, frame.f_locals["programs"]
        operation = self.operations.get(line)
        if operation is None:
            return
        rank = len(shape_of(operation.operands[0].type))
        offsets, active = np.broadcast_arrays(stored(offset), True if mask is None else stored(mask))
        buffer, offsets = (target, offsets) if isinstance(target, Buffer) else find(target, offsets)
        access = self.accesses.setdefault(line, Access(operation, buffer))
        number = self.rounds[line] = self.rounds.get(line, -1) + 1
        access.rounds = max(access.rounds, number + 1)
        if number >= ROUNDS:
            return
        if offsets.ndim == rank:  # the same for all programs
            offsets, active = offsets[None], active[None]
        shape = (len(programs), *access.tile)
        offsets, active = np.broadcast_to(offsets, shape), np.broadcast_to(active, shape)
        for lane in range(len(programs)):
            if active[lane].any():
                touch = Touch(programs.place(lane), number, np.array(offsets[lane], np.int64), np.array(active[lane]))
                access.touches.append(touch)


def find(buffers: Sequence[Buffer], address: np.ndarray) -> tuple[Buffer, np.ndarray]:
    """The buffer that contains most of these addresses, and their offsets from its first element."""
    offsets = [(address - buffer.address(0)) // buffer.data.itemsize for buffer in buffers]
    inside = [int(np.count_nonzero(within(buffer, offset))) for buffer, offset in zip(buffers, offsets, strict=True)]
    best = inside.index(max(inside))
    return buffers[best], offsets[best]


def watch(subject: Subject, module: Module, program: NumpyKernel) -> list[Access]:
    """Run some programs of a launch. Returns the accesses, with the elements that these programs touch."""
    assert subject.grid and subject.values
    (function,) = module.body.operations
    notes = Notes(generate(function, program.mode, origins(function))[1])
    given = [argument_of(name, subject.values[name]) for name in subject.compilation.inputs]
    values = [argument(dtype, value) for dtype, value in zip(program.dtypes, given, strict=True)]
    buffers = [value for value in values if isinstance(value, Buffer)] + list(known())
    libraries = {"memory": memory, "atomics": atomics, "addresses": addresses}
    recorders = {name: AccessRecorder(library, notes.add) for name, library in libraries.items()}
    run = program.build(recorders)
    with np.errstate(all="ignore"):
        for programs in sample(program, subject.grid, buffers):
            notes.rounds = {}
            run(programs, *values)
    return [access for _, access in sorted(notes.accesses.items())]


def sample(program: NumpyKernel, grid: tuple[int, int, int], buffers: list[Buffer]) -> Iterator[Programs]:
    """The programs to run: all of them, or the first and the last; as many at once as the kernel allows."""
    count = math.prod(grid)
    kind = LazyPrograms if program.mode == "fast" else Programs
    for first, last in [(0, count)] if count <= FIRST + LAST else [(0, FIRST), (count - LAST, count)]:
        for start in range(first, last, program.chunk):
            yield kind(grid, start, min(start + program.chunk, last), buffers)


def argument_of(name: str, value: Any) -> Any:
    """An argument of a launch: a buffer, copied from a GPU if needed, or a number."""
    if not is_memory(value):
        return to_python(value)
    return Buffer.of(name, value.cpu() if getattr(value, "is_cuda", False) else value)
