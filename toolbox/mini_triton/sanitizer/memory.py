"""Facts about memory: which bytes were never written, and which programs accessed the other bytes. (Given.)"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mini_triton.ir.core import Operation
from mini_triton.ir.storage import Buffer, as_numpy

FILL = 0xCB
"""The value of each byte that was never written."""
WORD = np.uint32
"""The host has written a word if one of its bytes has changed: a byte that it writes may be `FILL` by chance."""


# --- memory that was never written


@dataclass
class Span:
    """A piece of memory, with a record of its written bytes: a whole number of words."""

    start: int
    written: np.ndarray

    @property
    def end(self) -> int:
        return self.start + self.written.size

    def overlaps(self, buffer: Buffer) -> bool:
        return buffer.start < self.end and self.start < buffer.end

    def note_host(self, inside: slice, data: np.ndarray) -> None:
        """Count words as written whose bytes, `data`, have changed although no kernel wrote them."""
        if (data == FILL).all():
            return
        size = WORD().itemsize
        first, last = inside.start // size * size, -(-inside.stop // size) * size
        changed = np.zeros(last - first, bool)
        changed[inside.start - first : inside.stop - first] = (data != FILL) & ~self.written[inside]
        words = changed.view(WORD) != 0
        if words.any():
            self.written[first:last].view(WORD)[words] = 0x01010101


_spans: dict[int, Span] = {}
_numbers = itertools.count()


def uninitialized(memory: Any) -> Any:
    """The array or tensor itself, filled with `FILL`: reading an element before it is written is a defect.

        out = sanitizer.uninitialized(torch.empty(n))

    Memory that a kernel or the host writes is no longer uninitialized.
    """
    return mark(initialized(memory))


def mark(memory: Any) -> Any:
    """See `uninitialized`. For memory that was just allocated, of which nothing is known."""
    array, buffer = as_numpy(memory), Buffer.of("", memory)
    array.view(f"u{array.itemsize}")[...] = int.from_bytes(bytes([FILL]) * array.itemsize)
    written = np.zeros(-(-buffer.data.nbytes // WORD().itemsize) * WORD().itemsize, bool)
    written[buffer.data.nbytes :] = True
    if buffer.gaps is not None:
        written[: buffer.data.nbytes] = np.repeat(buffer.gaps, array.itemsize)
    number = next(_numbers)
    _spans[number] = Span(buffer.start, written)
    weakref.finalize(owner_of(memory), _spans.pop, number, None)
    return memory


def owner_of(memory: Any) -> Any:
    """The object that lives as long as the memory of an array or tensor, which may be a view."""
    if hasattr(memory, "untyped_storage"):
        return memory.untyped_storage()
    while isinstance(getattr(memory, "base", None), np.ndarray):
        memory = memory.base
    return memory


def initialized(memory: Any) -> Any:
    """The array or tensor itself, all of which counts as written from now on."""
    buffer = Buffer.of("", memory)
    for number, span in list(_spans.items()):
        if span.overlaps(buffer):
            span.written[max(buffer.start - span.start, 0) : max(buffer.end - span.start, 0)] = True
            if span.written.all():
                del _spans[number]
    return memory


# --- who accessed what


class Conflict(NamedTuple):
    """An access to an element that another program, or another lane of the same access, has accessed before."""

    at: int  # the index of the element in the buffer
    operation: Operation  # of the earlier access
    program: int  # that accessed it earlier
    lanes: int  # the number of lanes in conflict
    values: tuple[Any, ...] = ()  # what both accesses wrote, unless one of them read


class Trace:
    """An access to each unit of a region: the number of its program plus 1, or 0; its epoch; its operation."""

    def __init__(self, count: int) -> None:
        self.program, self.epoch, self.operation = np.zeros((3, count), np.int32)

    def note(self, at: np.ndarray, operation: int, clock: Clock) -> None:
        """A program accesses these units."""
        self.program[at], self.epoch[at], self.operation[at] = clock.program + 1, clock.epoch, operation

    def unseen(self, at: np.ndarray, clock: Clock) -> np.ndarray:
        """Which of these units another program accessed, without being known to the program with this clock."""
        before = self.program[at]
        found = (before > 0) & (before != clock.program + 1)
        for program in np.unique(before[found]):
            if (seen := clock.seen.get(int(program) - 1)) is not None:
                found &= (before != program) | (self.epoch[at] >= seen)
        return found


@dataclass
class Region:
    """A piece of memory that some arguments share, in units of bytes."""

    start: int
    end: int
    unit: int

    def __post_init__(self) -> None:
        count = -(-(self.end - self.start) // self.unit)
        self.writes, self.reads = Trace(count), Trace(count)


@dataclass
class Clock:
    """The knowledge of a program: up to which epoch it has seen the accesses of other programs.

    Programs synchronize by atomics on scalars: a later program sees what was written before, as with a lock. A scalar
    that a program stores also synchronizes, with volatile loads and with loops that wait.

    Source: vector clocks (Lamport, 1978; Mattern, 1989), as in ThreadSanitizer.
    """

    program: int
    epoch: int = 0
    seen: dict[int, int] = field(default_factory=dict)


class Memory:
    """The memory of a launch, with a record of the programs that accessed each element."""

    def __init__(self, buffers: Sequence[Buffer], kinds: frozenset[str]) -> None:
        self.spans: list[Span] = []
        if "uninitialized" in kinds:
            self.spans = [span for span in list(_spans.values()) if any(span.overlaps(buffer) for buffer in buffers)]
        self.buffers, self.kinds = buffers, kinds
        for buffer in buffers if self.spans else ():
            for span, inside, own in self.parts(buffer):
                span.note_host(inside, buffer.data.view(np.uint8)[own])
        self.clocks: dict[int, dict[int, int]] = {}  # by address
        self.operations: list[Operation] = []
        self.numbers: dict[Operation, int] = {}

    @cached_property
    def regions(self) -> list[Region]:
        """The memory to check for races."""
        return regions_of(self.buffers) if "races" in self.kinds else []

    def unwritten(self, buffer: Buffer, index: np.ndarray) -> np.ndarray | None:
        """Which of these elements were never written; None if all were written."""
        found = None
        for span in self.spans:
            if span.overlaps(buffer):
                byte = buffer.start + index[..., None] * buffer.data.itemsize - span.start
                byte = byte + np.arange(buffer.data.itemsize)
                inside = (byte >= 0) & (byte < span.written.size)
                never = (inside & ~span.written[np.where(inside, byte, 0)]).all(-1)
                found = never if found is None else found | never
        return found if found is not None and found.any() else None

    def note_written(self, buffer: Buffer, index: np.ndarray) -> None:
        """From now on, these elements count as written."""
        for span in self.spans:
            if span.overlaps(buffer):
                first = buffer.start + index * buffer.data.itemsize - span.start
                for byte in (first + i for i in range(buffer.data.itemsize)):
                    span.written[byte[(byte >= 0) & (byte < span.written.size)]] = True

    def parts(self, buffer: Buffer) -> Iterator[tuple[Span, slice, slice]]:
        """The pieces of memory behind a buffer that have unwritten bytes, each with the buffer's bytes in it."""
        for span in self.spans:
            low, high = max(span.start, buffer.start), min(span.end, buffer.end)
            inside = slice(low - span.start, high - span.start)
            if low < high and not span.written[inside].all():
                yield span, inside, slice(low - buffer.start, high - buffer.start)

    def never_written(self, buffer: Buffer) -> np.ndarray:
        """Which elements of a buffer were never written."""
        size = buffer.data.itemsize
        never = np.zeros(buffer.data.nbytes, bool)
        for span, inside, own in self.parts(buffer):
            never[own] |= ~span.written[inside]
        return never.view(f"u{size}") == int.from_bytes(bytes([1] * size))

    def note_all_written(self, buffer: Buffer, written: np.ndarray) -> None:
        """From now on, the elements of a buffer where `written` is true count as written."""
        for span, inside, own in self.parts(buffer):
            if written.all():
                span.written[inside] = True
            else:
                span.written[inside] |= np.repeat(written, buffer.data.itemsize)[own]

    def store(
        self, buffer: Buffer, index: np.ndarray, values: np.ndarray, operation: Operation, clock: Clock
    ) -> list[Conflict]:
        """Write flat `values` to elements of the buffer. Returns the first conflict with a read, and with a write.

        A write does not conflict if another program has written the same value before.
        """
        conflicts: list[Conflict] = []
        if self.regions:
            region, at = self.place(buffer, index)
            old = buffer.data[index]
            new = bits(old) != bits(values)
            overwritten = new & region.writes.unseen(at, clock)
            new |= region.writes.program[at] == 0
            conflicts += self.first(region.reads, at, new & region.reads.unseen(at, clock), index)
            conflicts += self.first(region.writes, at, overwritten, index, old, values)
        buffer.data[index] = values
        if self.regions:
            kept = buffer.data[index]
            region.writes.note(at, self.number(operation), clock)
            if not overwritten.any():
                conflicts += self.first(region.writes, at, bits(kept) != bits(values), index, values, kept)
        if self.spans:
            self.note_written(buffer, index)
        return conflicts

    def load(self, buffer: Buffer, index: np.ndarray, operation: Operation, clock: Clock) -> list[Conflict]:
        """Note that a program reads elements. Returns the first conflict with a write."""
        if not self.regions:
            return []
        region, at = self.place(buffer, index)
        conflicts = self.first(region.writes, at, region.writes.unseen(at, clock), index)
        region.reads.note(at[~region.reads.unseen(at, clock)], self.number(operation), clock)
        return conflicts

    def first(
        self, trace: Trace, at: np.ndarray, found: np.ndarray, index: np.ndarray, *written: np.ndarray
    ) -> list[Conflict]:
        """The first conflict with the accesses in a trace, or none, in the lanes where `found` is true.

        `written` are the values that both accesses wrote.
        """
        if not found.any():
            return []
        lane = int(np.argmax(found))
        operation, program = self.operations[trace.operation[at[lane]]], int(trace.program[at[lane]]) - 1
        values = tuple(array[lane] for array in written)
        return [Conflict(int(index[lane]), operation, program, int(np.count_nonzero(found)), values)]

    def synchronize(self, address: int, clock: Clock) -> None:
        """An atomic at an address: the program sees what was published there, and publishes what it has done."""
        self.acquire(address, clock)
        self.release(address, clock)

    def acquire(self, address: int, clock: Clock) -> None:
        """The program sees what was published at an address."""
        for program, epoch in self.clocks.get(address, {}).items():
            clock.seen[program] = max(epoch, clock.seen.get(program, 0))

    def release(self, address: int, clock: Clock) -> None:
        """The program publishes, at an address, what it has done."""
        if self.regions:
            clock.epoch += 1
            self.clocks.setdefault(address, {}).update({**clock.seen, clock.program: clock.epoch})

    def place(self, buffer: Buffer, index: np.ndarray) -> tuple[Region, np.ndarray]:
        """The region that contains elements of a buffer, and the indices of their units in it."""
        region = next(region for region in self.regions if region.start <= buffer.start < region.end)
        return region, (buffer.start - region.start + index * buffer.data.itemsize) // region.unit

    def number(self, operation: Operation) -> int:
        """A small number for an operation."""
        if operation not in self.numbers:
            self.numbers[operation] = len(self.operations)
            self.operations.append(operation)
        return self.numbers[operation]


def bits(values: np.ndarray) -> np.ndarray:
    """The bits of numbers: -0.0 differs from 0.0, and a NaN equals itself."""
    return np.ascontiguousarray(values).view(f"i{values.itemsize}")


def regions_of(buffers: Sequence[Buffer]) -> list[Region]:
    """Regions that contain all buffers and do not overlap."""
    found: list[tuple[int, int, int]] = []
    for buffer in sorted((b for b in buffers if b.data.size), key=lambda b: b.start):
        start, end, unit = buffer.start, buffer.end, buffer.data.itemsize
        if found and start < found[-1][1]:
            before = found.pop()
            start, end, unit = before[0], max(before[1], end), min(before[2], unit)
        found.append((start, end, unit))
    return [Region(*piece) for piece in found]
