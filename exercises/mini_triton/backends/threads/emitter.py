"""Instructions of one thread, as they are collected: new registers, shared memory, functions of the thread's number.

Instructions are collected in lists, one for each nesting level of control flow. The list of a level becomes part of the
list around it when control flow ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mini_triton.backends.threads.instructions import KINDS, Address, Instruction, Operand, Register, Room, result_kind
from mini_triton.backends.threads.layouts import SCALAR, Columns, Layout, bits_of
from mini_triton.backends.threads.ptx import DYNAMIC
from mini_triton.errors import Loc
from mini_triton.ir.core import Block

SHARED_AT_ONCE = 4096
"""Bytes of shared memory after which operations use the same bytes again."""


class Emitter:
    """The instructions of a thread of a program with `warps` warps."""

    def __init__(self, warps: int) -> None:
        self.warps = warps
        self.lists: list[list[Instruction]] = [[]]
        self.level = 0
        self.levels: dict[Block, int] = {}
        self.counts = dict.fromkeys(KINDS.values(), 0)
        self.once: dict[Any, Any] = {}  # by what it computes
        self.place: Loc | None = None
        self.texts: list[str] = []  # to print
        self.local = 0  # bytes of local memory for values to print
        self.kept: dict[int, int] = {}  # bytes of shared memory that one operation uses: where they start and end
        self.in_use: dict[int, int] = {}  # and those that the current operation uses
        self.labels = self.groups = self.shared = self.top = 0

    # --- instructions

    def new(self, kind: str) -> Register:
        """A new register."""
        self.counts[kind] += 1
        return Register(kind, self.counts[kind] - 1)

    def do(
        self,
        opcode: str,
        *operands: Operand,
        results: Sequence[Register] = (),
        guard: Register | None = None,
        negated: bool = False,
        room: Room | None = None,
    ) -> None:
        """Add an instruction whose results are given."""
        made = Instruction(opcode, tuple(results), operands, guard, negated, self.place, room)
        self.lists[self.level].append(made)

    def op(self, opcode: str, *operands: Operand) -> Register:
        """Add an instruction; its result is a new register."""
        result = self.new(result_kind(opcode))
        self.do(opcode, *operands, results=(result,))
        return result

    def add(self, instructions: Sequence[Instruction]) -> None:
        """Add instructions that were collected in a list of their own."""
        self.lists[self.level].extend(instructions)

    def copy(self, target: Register, source: Register, guard: Register | None = None) -> None:
        """Copy a register."""
        self.do(f"mov.{target.kind}", source, results=(target,), guard=guard)

    def bits(self, kind: str, value: int) -> Register:
        """A register with these bits."""
        if kind == "pred":
            return self.op("setp.ne.s32", self.bits("b32", value & 1), 0)
        return self.op(f"mov.{kind}", value)

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"$L{self.labels}"

    @contextmanager
    def on(self, level: int, place: Loc | None = None) -> Iterator[None]:
        """Inside the `with`, instructions go to the list of a level."""
        before, self.level = self.level, level
        here, self.place = self.place, place or self.place
        yield
        self.level, self.place = before, here

    @contextmanager
    def nested(self, block: Block) -> Iterator[list[Instruction]]:
        """Inside the `with`, instructions go to a list of their own, which the caller adds to the code."""
        self.lists.append([])
        before, self.level = self.level, len(self.lists) - 1
        self.levels[block] = self.level
        yield self.lists[-1]
        self.lists.pop()
        self.level = before

    def only_once(self, key: Any, make: Callable[[], Any], level: int = 0) -> Any:
        """What `make` returns, computed at most once on a level, by default before everything that needs it."""
        if key not in self.once:
            with self.on(level):
                self.once[key] = make()
        return self.once[key]

    # --- threads and shared memory

    @property
    def thread(self) -> Register:
        """The thread's number in its program."""
        return self.only_once("thread", lambda: self.op("mov.u32", "%tid.x"))

    def linear(self, columns: Columns) -> Register:
        """A register with a linear function of the thread's number, computed once."""
        return self.only_once(("linear", columns), lambda: self.move_bits(columns))

    def move_bits(self, columns: Columns) -> Register:
        """A new register with a linear function of `self.thread`, the thread's number, as `layouts.apply` defines it.

        The cost grows with the number of different distances by which bits move, not with the number of bits. At most
        this many instructions compute these functions:

            (0, 0, 0, 0, 0)          1
            (1, 2, 4, 8, 16)         1    nothing moves
            (4, 8, 16, 32, 64)       2    all bits move by 2
            (3, 6, 12, 24, 48)       4    all bits stay, and copies move by 1
            (2, 1, 8, 4, 32, 16)     5    all bits move by 1, up or down

        PTX has `and.b32`, `xor.b32`, `shl.b32` (to higher bits) and `shr.u32` (to lower bits).
        """
        # Task 13.4: Emit the instructions, and return the register of the result.
        raise NotImplementedError("Task 13.4: Coordinates")

    def coordinate(self, layout: Layout, axis: int, register: int) -> Register:
        """A register with the index, along an axis, of the element that each thread holds in a register of a layout.

        All registers together cost one linear function of the thread's number (`linear`), and for each register at most
        one more instruction, or none if its index is the same as register 0's in every thread.
        """
        # Task 13.4: Return a register with the index.
        raise NotImplementedError("Task 13.4: Coordinates")

    def speaker(self, layout: Layout) -> Register | None:
        """Whether this thread is the first of the threads that hold the same elements; None if no two threads do.

        The condition is computed once: later calls return the same register. The layout may be `SCALAR`.
        """
        # Task 13.4: Return a register with the condition, or None.
        raise NotImplementedError("Task 13.4: Coordinates")

    def both(self, first: Register | None, second: Register | None) -> Register | None:
        """Whether both conditions hold; None stands for a condition that always holds."""
        return self.op("and.pred", first, second) if first and second else first or second

    def reserve(self, size: int, unit: int = 16) -> int:
        """The first of `size` bytes of shared memory, a multiple of `unit`.

        An earlier operation may have used the same bytes; barriers separate the two. Bytes in `kept` and `in_use` are
        not free.
        """
        start = -(-self.top // unit) * unit
        if start + size > SHARED_AT_ONCE:
            start = 0
        for first, stop in sorted((self.kept | self.in_use).items()):
            if start < stop and first < start + size:
                start = -(-stop // unit) * unit
        self.top = -(-(start + size) // 16) * 16
        self.shared = max(self.shared, self.top)
        return start

    def keep(self, size: int, unit: int = 16) -> int:
        """The first of `size` bytes of shared memory that no other operation uses."""
        start = -(-self.shared // unit) * unit
        self.kept[start] = self.shared = start + size
        return start

    def room(self, start: int, size: int, writes: bool) -> Room:
        """A new group of accesses to shared memory."""
        self.groups += 1
        return Room(start, start + size, writes, self.groups)

    def shared_address(self, columns: Columns, constant: int, start: int) -> Address:
        """The address of byte `start` + (a linear function of the thread's number ^ `constant`)."""
        used = 0
        for column in columns:
            used |= column

        def compute() -> Register:
            offset = self.linear(columns)
            overlap = constant & used
            base = self.only_once("shared", lambda: self.op("mov.b32", DYNAMIC))
            return self.op("add.s32", base, self.op("xor.b32", offset, overlap) if overlap else offset)

        base = self.only_once(("address", columns, constant & used), compute)
        return Address(base, start + (constant & ~used))
