"""From operations on tensors to the instructions of one thread.

Operations with effects become instructions in order. A value without effects becomes instructions where a register of
it is first needed, so nobody computes what nobody needs. `register` asks for one register of a value in a layout: it
finds it, computes it from registers of the operands, or converts the value from another layout.

Instructions are collected in lists, one for each nesting level of control flow. A value's instructions go to the list
of the level on which the value is defined, which becomes part of the list around it when control flow ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.instructions import (
    KINDS,
    Address,
    Instruction,
    Operand,
    Register,
    Room,
    Unsupported,
    is_float,
    kind_of,
    result_kind,
    width_of,
)
from mini_triton.backends.threads.layouts import SCALAR, Columns, Layout, bits_of
from mini_triton.backends.threads.ptx import DYNAMIC
from mini_triton.errors import Loc
from mini_triton.ir.core import Block, Module, Operation, OpResult, Value
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import TensorType, Type, element_type

DEEP = 20_000
"""Python's limit of calls within calls, because chains of values are long."""
SHARED_AT_ONCE = 4096
"""Bytes of shared memory after which operations use the same bytes again."""
Pure = Callable[["Threads", Operation, Sequence[Register]], Register]
Anchored = Callable[["Threads", Operation], None]
Placed = Callable[["Threads", Operation, int, Layout, int], Register]
PURE: dict[str, Pure] = {}
"""Elementwise operations: a register of the result, from one register of each operand."""
PLACED: dict[str, Placed] = {}
"""Operations whose results depend on the place: a register of a result, from its layout and its number."""
ANCHORED: dict[str, Anchored] = {}
"""Operations that become instructions in order."""


def rule(table: dict[str, Any], *names: str) -> Callable[[Any], Any]:
    """Declare the function that compiles operations of these names."""

    def declare(function: Any) -> Any:
        table.update(dict.fromkeys(names, function))
        return function

    return declare


class Threads:
    """The instructions of one thread of a kernel, as they are collected."""

    def __init__(self, module: Module, warps: int, capability: int) -> None:
        self.warps, self.capability = warps, capability
        self.choice = Choice(module, warps)
        self.lists: list[list[Instruction]] = [[]]
        self.level = 0
        self.levels: dict[Block, int] = {}
        self.counts = dict.fromkeys(KINDS.values(), 0)
        self.registers: dict[tuple[Value, Layout], dict[int, Register]] = {}
        self.homes: dict[Value, Layout] = {}  # of values that are in registers, and not computed again
        self.once: dict[Any, Any] = {}  # of the outermost level, by what it computes
        self.place: Loc | None = None
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

    def only_once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returns, computed at most once, before everything that needs it."""
        if key not in self.once:
            with self.on(0):
                self.once[key] = make()
        return self.once[key]

    # --- threads and shared memory

    @property
    def thread(self) -> Register:
        """The thread's number in its program."""
        return self.only_once("thread", lambda: self.op("mov.u32", "%tid.x"))

    def linear(self, columns: Columns) -> Register:
        """A linear function of the thread's number. Bits that move equally far are moved together."""

        def compute() -> Register:
            moved: dict[int, int] = {}
            for bit, column in enumerate(columns):
                for target in bits_of(column):
                    moved[target - bit] = moved.get(target - bit, 0) | 1 << bit
            total = None
            for distance, mask in sorted(moved.items()):
                part = self.op("and.b32", self.thread, mask)
                if distance:
                    part = self.op("shl.b32" if distance > 0 else "shr.u32", part, abs(distance))
                total = self.op("xor.b32", total, part) if total else part
            return total or self.bits("b32", 0)

        return self.only_once(("linear", columns), compute)

    def coordinate(self, layout: Layout, axis: int, register: int) -> Register:
        """The index along an axis of the element in a register."""
        base = self.linear(tuple(vector[axis] for vector in layout.threads))
        constant = layout.index(register)[axis]
        return self.op("xor.b32", base, constant) if constant else base

    def speaker(self, layout: Layout) -> Register | None:
        """Whether this thread is the first of those that hold the same elements; None if no other thread does."""
        idle = layout.idle if layout != SCALAR else 32 * self.warps - 1
        if not idle:
            return None
        return self.only_once(
            ("speaker", idle), lambda: self.op("setp.eq.s32", self.op("and.b32", self.thread, idle), 0)
        )

    def both(self, first: Register | None, second: Register | None) -> Register | None:
        """Whether both conditions hold; None stands for a condition that always holds."""
        return self.op("and.pred", first, second) if first and second else first or second

    def reserve(self, size: int) -> int:
        """The first of `size` bytes of shared memory. An earlier operation may use them too; barriers separate them."""
        size = -(-size // 16) * 16
        if self.top + size > SHARED_AT_ONCE:
            self.top = 0
        start, self.top = self.top, self.top + size
        self.shared = max(self.shared, self.top)
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

    # --- values

    def register(self, value: Value, layout: Layout = SCALAR, number: int = 0) -> Register:
        """A register of a value in a layout."""
        number = layout.first(number)
        known = self.registers.setdefault((value, layout), {})
        if number not in known:
            with self.on(self.level_of(value), value.owner.loc if isinstance(value, OpResult) else None):
                if value in self.homes or self.has_own_layout(value, layout):
                    self.convert(value, layout)
                else:
                    known[number] = self.compute(value, layout, number)
        return known[number]

    def all_registers(self, value: Value, layout: Layout) -> dict[int, Register]:
        """All distinct registers of a value in a layout."""
        return {number: self.register(value, layout, number) for number in layout.distinct}

    def level_of(self, value: Value) -> int:
        """The nesting level on which a value is defined."""
        block = value.parent_block
        return self.levels.get(block, 0) if block else 0

    def has_own_layout(self, value: Value, layout: Layout) -> bool:
        """Whether a value that is not in registers yet is computed in another layout than this."""
        assert isinstance(value, OpResult)
        natural = self.choice.natural(value) if value.owner.name in PURE else None
        if natural is None or natural == layout:
            return False
        self.hold(value, natural, self.all_registers(value, natural))
        return True

    def compute(self, value: Value, layout: Layout, number: int) -> Register:
        """A register of a value without effects."""
        assert isinstance(value, OpResult)
        operation = value.owner
        if operation.name in PURE:
            operands = [
                self.register(operand, layout if isinstance(operand.type, TensorType) else SCALAR, number)
                for operand in operation.operands
            ]
            return PURE[operation.name](self, operation, operands)
        if operation.name not in PLACED:
            raise Unsupported(operation)
        return PLACED[operation.name](self, operation, value.index, layout, number)

    def hold(self, value: Value, layout: Layout, registers: dict[int, Register]) -> None:
        """Keep a value in these registers."""
        self.homes[value] = layout
        self.registers[value, layout] = registers

    def convert(self, value: Value, layout: Layout) -> None:
        """Give a value that is in registers a second layout."""
        from mini_triton.backends.threads.conversions import convert

        source = self.homes[value]
        found = convert(self, value.type, source, self.registers[value, source], layout)
        self.registers[value, layout].update(found)

    def constant(self, type: Type, value: Any) -> Register:
        """A number of this type."""
        kind = kind_of(type)
        if not is_float(type):
            return self.bits(kind, int(value))
        bits = int(np.asarray(value, numpy_dtype(element_type(type))).view(f"u{width_of(type) // 8}"))
        return self.op(f"mov.{kind}", hex(bits))

    # --- operations in order

    def block(self, block: Block) -> None:
        """The instructions of a block's operations, except for the terminator."""
        for operation in block.operations[:-1]:
            if operation.name in ANCHORED:
                self.place = operation.loc
                ANCHORED[operation.name](self, operation)
            elif operation.name not in PURE and operation.name not in PLACED:
                raise Unsupported(operation)

    def inline(self, block: Block, arguments: Sequence[Register]) -> list[Register]:
        """The operands of the terminator of a block that combines elements, for these arguments."""
        known: dict[Value, Register] = dict(zip(block.arguments, arguments, strict=True))

        def get(value: Value) -> Register:
            return known[value] if value in known else self.register(value)

        *operations, end = block.operations
        for operation in operations:
            if operation.name == "arith.constant":
                known[operation.result] = self.constant(operation.result.type, operation.attributes["value"])
            elif operation.name in PURE:
                operands = [get(operand) for operand in operation.operands]
                known[operation.result] = PURE[operation.name](self, operation, operands)
            else:
                raise Unsupported(operation, "inside a combination")
        return [get(operand) for operand in end.operands]

    def run(self, function: Operation) -> list[Instruction]:
        """The instructions of a kernel."""
        body = function.regions[0].block
        name = function.attributes["sym_name"]
        self.levels[body] = 0
        for number, parameter in enumerate(body.arguments):
            kind = kind_of(parameter.type)
            type = "b8" if width_of(parameter.type) <= 8 else kind
            loaded = self.new("b16" if type == "b8" else kind)
            self.do(f"ld.param.{type}", f"[{name}_param_{number}]", results=(loaded,))
            if kind == "pred":
                loaded = self.op("setp.ne.s16", self.op("and.b16", loaded, 1), 0)
            self.hold(parameter, SCALAR, {0: loaded})
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEP))
        try:
            self.block(body)
        finally:
            sys.setrecursionlimit(limit)
        self.do("ret")
        return self.lists[0]
