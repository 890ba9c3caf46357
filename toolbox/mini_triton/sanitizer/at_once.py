"""Generated code that runs many programs at once, with checks. (Given.)

The checks are coarse, so that they cost little: they miss no defect, but may raise a `Suspicion` without a defect.
After a suspicion, memory is restored, and the programs run one by one, with exact checks.
"""

from __future__ import annotations

import itertools
import math
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mini_triton.analysis.axes import ALL_PROGRAMS
from mini_triton.analysis.pointers import WRITES, waits
from mini_triton.codegen import NumpyKernel, compile_module
from mini_triton.codegen.accesses import load, store
from mini_triton.codegen.emitter import Emitter, Handler
from mini_triton.codegen.library import addresses, atomics, memory
from mini_triton.codegen.library.lazy import Affine, Array, Box, Lazy, stored, together
from mini_triton.codegen.library.programs import Programs
from mini_triton.codegen.numpy_gen import HANDLERS
from mini_triton.codegen.straight_line import poison
from mini_triton.ir.core import Operation, OpResult, Value
from mini_triton.ir.device_assert import DeviceAssertionError
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.storage import Buffer, OutOfBounds
from mini_triton.ir.types import shape_of
from mini_triton.sanitizer.doubts import Doubts
from mini_triton.sanitizer.facts import ARITHMETIC, DIVISIONS, KernelFacts
from mini_triton.sanitizer.memory import Memory, bits

FREE, MANY = -1, -2
"""Used instead of the number of the program that wrote an element: no program, or several programs at once."""

LISTED = 16
"""How many masks a list of reads may hold, which are as large as tiles."""


class Suspicion(Exception):
    """Raised if a launch may have a defect."""


# --- code with checks


class Checks:
    """Generates the code of a kernel's operations, with checks. In this code, `memory` is a `CheckedMemory`."""

    def __init__(self, facts: KernelFacts, kinds: frozenset[str]) -> None:
        self.facts, self.kinds = facts, kinds
        kind_of = {"tt.load": "masked", "ub.poison": "uninitialized"}
        self.doubtful = {source for source in Doubts(facts.function).sources if kind_of[source.name] in kinds}
        self.handlers: Mapping[str, Handler] = {
            **HANDLERS,
            **{"tt.load": self.load, "tt.store": self.store, "ub.poison": self.poison},
            **dict.fromkeys(("tt.atomic_rmw", "tt.atomic_cas"), self.atomic),
            **dict.fromkeys(ARITHMETIC, self.arithmetic),
            **dict.fromkeys(DIVISIONS if "division" in kinds else (), self.division),
        }

    def load(self, emit: Emitter, operation: Operation) -> None:
        """Write a load; if it is in doubt, expect that no element is masked off."""
        if operation in self.doubtful:
            mask = operation.operands[1]
            expect(emit, mask, name_value(emit, mask))
        self.access(emit, operation)
        load(emit, operation)

    def store(self, emit: Emitter, operation: Operation) -> None:
        self.access(emit, operation)
        store(emit, operation)

    def atomic(self, emit: Emitter, operation: Operation) -> None:
        self.access(emit, operation)
        HANDLERS[operation.name](emit, operation)

    def access(self, emit: Emitter, operation: Operation) -> None:
        """Tell which programs run the next access, if the kernel writes memory, so that programs may race."""
        if self.facts.written:
            rank = len(shape_of(operation.operands[0].type))
            emit.write(f"memory.accessed_by(programs, {rank}, {emit.active or None})")

    def poison(self, emit: Emitter, operation: Operation) -> None:
        if operation in self.doubtful:
            emit.write("memory.expect(np.False_)")
        poison(emit, operation)

    def division(self, emit: Emitter, operation: Operation) -> None:
        divisor = operation.operands[1]
        maker = divisor.owner if isinstance(divisor, OpResult) else operation
        known = maker.name == "arith.constant" and maker.attributes["value"] != 0
        if not known and not is_combined(operation):
            expect(emit, divisor, f"{name_value(emit, divisor)} != 0")
        compute(emit, operation)

    def arithmetic(self, emit: Emitter, operation: Operation) -> None:
        """Write integer arithmetic; for offsets, expect the same result in 64 bits."""
        ufunc = self.facts.exact(operation) if "overflow" in self.kinds else None
        if ufunc is None or is_combined(operation):
            compute(emit, operation)
            return
        operands = ", ".join([name_value(emit, operand) for operand in operation.operands])
        compute(emit, operation)
        result = operation.result
        expect(emit, result, f"memory.fits(np.{ufunc.__name__}, {operands}, {name_value(emit, result)})")


def compute(emit: Emitter, operation: Operation) -> None:
    """Write an elementwise operation."""
    emit.assign(operation.result, emit.expression(operation, str(meaning(operation))))


def name_value(emit: Emitter, value: Value) -> str:
    """Return the text of a value that is used more than once. Assign an expression to a variable first."""
    text = emit.text(value)
    if text.startswith("("):
        emit.names[value] = emit.fresh(value.name or "t")
        emit.write(f"{emit.names[value]} = {text}")
    return emit.text(value)


def expect(emit: Emitter, value: Value, text: str) -> None:
    """Write a check that an expression about `value` is true in all elements of the active programs."""
    if emit.active and emit.varies(value):
        text += f", {emit.lift(emit.active, ALL_PROGRAMS, len(shape_of(value.type)))}"
    emit.write(f"memory.expect({text})")


def is_combined(operation: Operation) -> bool:
    """Whether an operation is in the region of a reduction or scan, where poison is not followed."""
    parent = operation.parent_op
    return parent is not None and parent.name in ("tt.reduce", "tt.scan")


@lru_cache(256)
def with_checks(facts: KernelFacts, kinds: frozenset[str]) -> NumpyKernel | None:
    """The code of a kernel with checks.

    None if the programs must run one by one, because they print, wait for one another, or store through unknown
    pointers.
    """
    prints = any(operation.name == "tt.print" for operation in facts.function.walk())
    writes_anywhere = any(o.name in WRITES and facts.leads[o.operands[0]] is None for o in facts.function.walk())
    if prints or writes_anywhere or "tt.store" in facts.elsewhere or waits(facts.function, facts.leads):
        return None
    return compile_module(facts.module, handlers=Checks(facts, kinds).handlers)


# --- launches


class Accesses:
    """Which program wrote, or read, each element of an argument.

    Most kernels access one piece of memory after another. As long as they do, the pieces are only listed.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.listed: list[tuple[Affine, Array, Any, Array | None]] = []
        self.low, self.high = math.inf, -math.inf  # all listed offsets are between these two

    @property
    def exist(self) -> bool:
        """Whether there have been accesses."""
        return bool(self.listed) or not self.is_list

    @property
    def is_list(self) -> bool:
        """Whether all pieces so far are in the list."""
        return "owners" not in vars(self)

    def lie_elsewhere(self, piece: Affine | None) -> bool:
        """Whether the bounds alone show that none of the elements has been accessed."""
        if piece is None or not self.is_list:
            return False
        low, high = piece.bounds
        return high < self.low or self.high < low

    def add(self, piece: Affine | None, offset: Array, owner: Any, mask: Array | None, listed: bool) -> None:
        """Record the owner of the elements that are accessed, in the list or by element."""
        if listed and piece is not None and self.is_list:
            self.listed.append((piece, offset, owner, mask))
            self.low, self.high = min(piece.bounds[0], self.low), max(piece.bounds[1], self.high)
        else:
            note_owner(self.owners, offset, owner, mask)

    @cached_property
    def owners(self) -> Buffer:
        """The number of the program that accessed each element, or `FREE`, or `MANY`."""
        owners = like(self.buffer, np.full(self.buffer.data.size, FREE, np.int32))
        for _, offset, owner, mask in self.listed:
            note_owner(owners, offset, owner, mask)
        return owners

    def accessed(self) -> np.ndarray:
        """Which elements are accessed."""
        if not self.is_list:
            return self.owners.data != FREE
        accessed = like(self.buffer, np.zeros(self.buffer.data.size, bool))
        for _, offset, _, mask in self.listed:
            memory.store(accessed, offset, np.True_, mask)
        return accessed.data


def note_owner(owners: Buffer, offset: Array, owner: Any, mask: Array | None) -> None:
    """Record the owner of elements. Elements that several programs access belong to `MANY`."""
    before = memory.load(owners, offset, mask, other=FREE)
    memory.store(owners, offset, owner, mask)
    after = memory.load(owners, offset, mask, other=stored(owner))
    many = (before != FREE) & (before != owner) | (after != owner)
    if many.any():
        memory.store(owners, offset, np.int32(MANY), many)


def may_meet(reads: Accesses, writes: Accesses, programs: int) -> bool:
    """Whether one of so many programs may have read an element that another one wrote."""
    size, (x, y) = reads.buffer.data.itemsize, (reads.buffer, writes.buffer)
    if are_apart(reads, writes, programs):
        return False
    if y.data.itemsize != size or (x.start - y.start) % size:
        return True
    start, end = max(x.start, y.start), min(x.end, y.end)
    reader, writer = (
        each.owners.data[(start - each.buffer.start) // size : (end - each.buffer.start) // size]
        for each in (reads, writes)
    )
    return bool(((reader != FREE) & (writer != FREE) & ((reader != writer) | (reader == MANY))).any())


def are_apart(reads: Accesses, writes: Accesses, programs: int) -> bool:
    """Whether the addresses between which each program reads and writes show that programs do not meet."""
    if not (reads.is_list and writes.is_list):
        return False
    first, last = (each.buffer.address(np.array([each.low, each.high])) for each in (reads, writes))
    if first[1] < last[0] or last[1] < first[0]:
        return True
    low, high = np.full(programs, np.iinfo(np.int64).max), np.zeros(programs, np.int64)
    for each in (reads, writes):
        for piece, _, owner, _ in each.listed:
            if owner is MANY:
                return False
            numbers, ends = np.ravel(stored(owner)), each.buffer.address(ends_of(piece, owner))
            low[numbers] = np.minimum(low[numbers], ends[0])
            high[numbers] = np.maximum(high[numbers], ends[1] + each.buffer.data.itemsize - 1)
    order = np.argsort(low)
    order = order[low[order] <= high[order]]
    return bool((high[order][:-1] < low[order][1:]).all())


def ends_of(piece: Affine, owner: Any) -> np.ndarray:
    """The smallest and the largest offset of each owner: an array of shape (2, owners)."""
    if isinstance(owner, int):
        return np.array(piece.bounds)[:, None]
    start = np.asarray(piece.start)
    inner = tuple(range(1, start.ndim))
    steps = piece.strides[0] * np.arange(piece.shape[0])
    ends = [stride * (size - 1) for stride, size in zip(piece.strides[1:], piece.shape[1:], strict=True)]
    low, high = start.min(inner) + sum(min(end, 0) for end in ends), start.max(inner) + sum(max(end, 0) for end in ends)
    return np.stack(np.broadcast_arrays(low + steps, high + steps))


def like(buffer: Buffer, data: np.ndarray) -> Buffer:
    """A buffer with different data: one value for each element of `buffer`, at the same offset."""
    return Buffer(buffer.name, data, buffer.origin, buffer.gaps)


class CheckedMemory:
    """Stands for the modules `memory` and `atomics` in code with checks. Raises `Suspicion`."""

    def __init__(self, facts: KernelFacts, known: Memory, buffers: Mapping[str, Buffer]) -> None:
        self.looks_for_races = "races" in known.kinds
        marked = {name for name, buffer in buffers.items() if any(known.parts(buffer))}
        self.writes = {name: Accesses(buffers[name]) for name in facts.stored if self.looks_for_races or name in marked}
        self.unwritten = {name: like(buffers[name], known.never_written(buffers[name])) for name in marked & facts.read}
        ends = {name: (buffer.start, buffer.end) for name, buffer in buffers.items()}

        def meetings(reading: Iterable[str], writing: Iterable[str]) -> list[tuple[str, str]]:
            pairs = itertools.product(reading, writing)
            return [(x, y) for x, y in pairs if ends[x][0] < ends[y][1] and ends[y][0] < ends[x][1]]

        # Do the written values depend on other programs' writes?
        self.depends = "tt.load" in facts.elsewhere or bool(meetings(facts.loaded, facts.stored))
        self.meetings = meetings(facts.read, facts.written) if self.looks_for_races else []
        self.reads = {name: Accesses(buffers[name]) for name, _ in self.meetings}
        self.written = [ends[name] for name in facts.written if self.looks_for_races]

    # --- memory

    def load(self, buffer: Buffer, offset: Array, mask: Array | None = None, other: Array | None = None) -> Array:
        """See `memory.load`."""
        self.read(buffer, offset, mask)
        return memory.load(buffer, offset, mask, other)

    def store(self, buffer: Buffer, offset: Array, value: Array, mask: Array | None = None) -> None:
        """See `memory.store`. A program may write where no other program has, or write the value that memory holds."""
        writes = self.writes.get(buffer.name)
        if writes is None:
            return memory.store(buffer, offset, value, mask)
        shape = together(offset, value, mask)
        piece, owner = self.piece(offset, mask, shape), self.owner(shape)
        self.expect(np.bool_(owner is not MANY or not self.depends))
        if self.looks_for_races and not writes.lie_elsewhere(piece):
            before = memory.load(writes.owners, offset, mask, other=FREE)
            same = holds(buffer, offset, value, mask, shape) if owner is MANY else True
            self.expect((before == FREE) | (before == owner) & same)
        writes.add(piece, offset, owner, mask, writes.lie_elsewhere(piece))
        memory.store(buffer, offset, value, mask)
        if self.looks_for_races and math.prod(shape) > 1 and (piece is None or not is_injective(piece)):
            self.expect(holds(buffer, offset, value, mask, shape))
            if self.depends:  # programs that run at once may agree here and disagree one by one
                self.expect(holds(writes.owners, offset, owner, mask, shape))

    def rmw(
        self, name: str, buffer: Buffer, offset: Array, value: Array, shape: Any, mask: Any = None, **more: Any
    ) -> Any:
        """See `atomics.rmw`, which reads before it writes."""
        self.read(buffer, offset, mask, shape)
        return atomics.rmw(name, buffer, offset, value, shape, mask, **more)

    def cas(self, buffer: Buffer, offset: Array, expected: Array, value: Array, shape: Any, mask: Any = None) -> Any:
        """See `atomics.cas`."""
        self.read(buffer, offset, mask, shape)
        return atomics.cas(buffer, offset, expected, value, shape, mask)

    def read(self, buffer: Buffer, offset: Array, mask: Array | None, shape: tuple[int, ...] | None = None) -> None:
        """Expect that the elements to read were written before the launch. Record who reads them."""
        if buffer.name in self.unwritten:
            self.expect(~memory.load(self.unwritten[buffer.name], offset, mask))
        if buffer.name in self.reads:
            reads, shape = self.reads[buffer.name], shape or together(offset, mask)
            self.expect(np.bool_(buffer.data.dtype == reads.buffer.data.dtype))
            is_small = not isinstance(mask, np.ndarray) or len(reads.listed) < LISTED
            reads.add(self.piece(offset, mask, shape), offset, self.owner(shape), mask, is_small)

    def load_from_address(
        self, buffers: Sequence[Buffer], address: Array, mask: Array | None = None, other: Array | None = None
    ) -> Array:
        """See `addresses.load`. Expect that programs do not write to this memory."""
        active = np.True_ if mask is None else stored(mask)
        for start, end in self.written:
            self.expect((address < start) | (address >= end) | ~active)
        return addresses.load(buffers, address, mask, other)

    def accessed_by(self, programs: Programs, rank: int, active: np.ndarray | None) -> None:
        """Record which programs access memory next, and the rank of each program's part."""
        self.programs, self.rank, self.active = programs, rank, active

    def owner(self, shape: tuple[int, ...]) -> Any:
        """The number of the program that owns each element of an access with this shape."""
        numbers = self.programs.numbers()
        if len(shape) > self.rank:
            return numbers[:, *[None] * self.rank]
        active = stored(numbers) if self.active is None else numbers[self.active]
        return int(active[0]) if len(active) == 1 else MANY

    def piece(self, offset: Array, mask: Array | None, shape: tuple[int, ...]) -> Affine | None:
        """The offsets of an access, without those outside a mask that is a box; None if they are not lazy."""
        if isinstance(offset, np.integer):
            offset = Affine(int(offset), (), (), np.int64)
        if not isinstance(offset, Affine):
            return None
        inside = Box.of(mask)
        box = Box.full(shape) if inside is None else inside.broadcast_to(shape)
        box = box if isinstance(box, Box) else Box.full(shape)
        each = len(box.shape) - self.rank  # 1 if there is an axis of programs, all of which are kept
        limits = [*((0, size) for size in box.shape[:each]), *box.ranges[each:]]
        offset = offset.broadcast_to(box.shape)
        first = sum(stride * low for stride, (low, _) in zip(offset.strides, limits, strict=True))
        ranges = zip(box.shape, offset.strides, limits, strict=True)
        sizes = tuple(high - low if stride else size for size, stride, (low, high) in ranges)
        return Affine(offset.start + first, offset.strides, sizes, np.int64)

    def finish(self) -> None:
        """Expect that no program read an element that another one wrote."""
        for read, written in self.meetings:
            if self.reads[read].exist and self.writes[written].exist:
                count = math.prod(self.programs.grid)
                self.expect(np.bool_(not may_meet(self.reads[read], self.writes[written], count)))

    # --- values

    def expect(self, good: Array, active: Array | None = None) -> None:
        """Raise `Suspicion` unless `good` is true wherever programs are active."""
        if good is True or isinstance(good, Box) and good.is_full():
            return
        good = stored(good) if active is None else stored(good) | ~active
        if not good.all():
            raise Suspicion

    def fits(self, ufunc: np.ufunc, x: Array, y: Array, result: Array) -> Any:
        """Where a computed integer equals its value in 64 bits. A lazy array never wraps around."""
        return True if isinstance(result, Lazy) else ufunc(stored(x), stored(y), dtype=np.int64) == result


def holds(buffer: Buffer, offset: Array, value: Array, mask: Array | None, shape: tuple[int, ...]) -> np.ndarray:
    """Where memory has this value, bit for bit, or the element is masked off."""
    value = np.broadcast_to(stored(value), shape)
    return bits(memory.load(buffer, offset, mask, other=value)) == bits(value)


def is_injective(offset: Affine) -> bool:
    """Whether the strides alone show that no two offsets are equal."""
    start = np.unique(offset.start)
    extent, count = 0, 1
    for stride, size in sorted(zip(map(abs, offset.strides), offset.shape, strict=True)):
        if stride > extent:
            extent += stride * (size - 1)
            count *= size
    return count * start.size == offset.size and (start.size == 1 or int(np.diff(start).min()) > extent)


def passes(facts: KernelFacts, grid: Sequence[int], arguments: Sequence[Any], known: Memory) -> bool:
    """Run a launch with checks. Returns False, and restores memory, if the launch may have a defect."""
    kernel = with_checks(facts, known.kinds)
    given = {parameter.name: value for parameter, value in zip(facts.block.arguments, arguments, strict=True)}
    buffers = {name: replace(value, name=name) for name, value in given.items() if isinstance(value, Buffer)}
    written = [buffers[name] for name in facts.stored]
    if kernel is None or known.spans and facts.elsewhere or overlap(written):
        return False
    checked = CheckedMemory(facts, known, buffers)
    before = [buffer.data.copy() for buffer in written]
    modules = {
        "memory": checked,
        "atomics": checked,
        "addresses": types.SimpleNamespace(load=checked.load_from_address),
    }
    try:
        kernel.with_library(modules)(grid, list((given | buffers).values()), known.buffers)
        checked.finish()
    except (Suspicion, OutOfBounds, DeviceAssertionError):
        for buffer, data in zip(written, before, strict=True):
            buffer.data[...] = data
        return False
    for writes in checked.writes.values() if known.spans else ():
        known.note_all_written(writes.buffer, writes.accessed())
    return True


def overlap(buffers: Sequence[Buffer]) -> bool:
    """Whether some of these buffers share memory."""
    ordered = sorted(buffers, key=lambda buffer: buffer.start)
    return any(x.end > y.start for x, y in itertools.pairwise(ordered))
