"""From operations on tensors to the instructions of one thread.

Operations with effects become instructions in order. Any other value becomes instructions where one of its registers is
first needed, so no instruction is computed in vain. `register` returns one register of a value in a layout: it finds
the register, computes it from registers of the operands, or converts the value from another layout.

A value's instructions go to the list of the nesting level on which the value is defined.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import (
    Instruction,
    Register,
    Unsupported,
    is_float,
    kind_of,
    width_of,
)
from mini_triton.backends.threads.layouts import SCALAR, Layout
from mini_triton.ir.core import Block, Module, Operation, OpResult, Value
from mini_triton.ir.ops.asynchronous import MapType
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import TensorType, Type, element_type

if TYPE_CHECKING:
    from mini_triton.backends.threads.tiles import Tile

DEEP = 20_000
"""Python's limit of recursion, because chains of values are long."""
Pure = Callable[["Threads", Operation, Sequence[Register]], Register]
Anchored = Callable[["Threads", Operation], None]
Placed = Callable[["Threads", Operation, int, Layout, int], Register]
PURE: dict[str, Pure] = {}
"""Elementwise operations: a register of the result, from one register of each operand."""
PLACED: dict[str, Placed] = {}
"""Operations whose results depend on the place: a register of a result, from the result's number among the operation's
results, its layout, and the register's number."""
ANCHORED: dict[str, Anchored] = {}
"""Operations that become instructions in order."""


def rule(table: dict[str, Any], *names: str) -> Callable[[Any], Any]:
    """Declare the function that compiles operations of these names."""

    def declare(function: Any) -> Any:
        table.update(dict.fromkeys(names, function))
        return function

    return declare


class Threads(Emitter):
    """Compiles a kernel to the instructions of one thread."""

    def __init__(self, module: Module, warps: int, capability: int, tensor_cores: bool = False) -> None:
        super().__init__(warps)
        self.capability = capability
        self.choice = Choice(module, warps, capability if tensor_cores else 0)
        self.registers: dict[tuple[Value, Layout], dict[int, Register]] = {}
        self.tiles: dict[Value, Tile] = {}  # values in shared memory
        self.homes: dict[Value, Layout] = {}  # of values that are in registers, and not computed again

    # --- values

    def register(self, value: Value, layout: Layout = SCALAR, number: int = 0) -> Register:
        """The register that holds, in each thread, the element at `layout.index(number, thread)`.

        The first call for an element computes it; later calls return the same register. The element's instructions are
        on the level on which the value is defined (`level_of`), with the location of its operation.

        A value with a layout of its own (`own_layout`) is computed only in this layout. Before `convert` converts it to
        another, all its registers are computed and held (`hold`).
        """
        number = self.choice.first_register(value, layout, number)
        known = self.registers.setdefault((value, layout), {})
        # Task 13.5: Return the register.
        raise NotImplementedError("Task 13.5: On demand")

    def all_registers(self, value: Value, layout: Layout) -> dict[int, Register]:
        """All distinct registers of a value in a layout."""
        return {number: self.register(value, layout, number) for number in layout.distinct}

    def level_of(self, value: Value) -> int:
        """The nesting level on which a value is defined."""
        block = value.parent_block
        return self.levels.get(block, 0) if block else 0

    def own_layout(self, value: Value) -> Layout | None:
        """The only layout in which a value is computed or held; None if `compute` takes any layout."""
        if value in self.homes:
            return self.homes[value]
        assert isinstance(value, OpResult)
        return self.choice.natural(value) if value.owner.name in PURE else None

    def compute(self, value: Value, layout: Layout, number: int) -> Register:
        """Emit the instructions for one register of a value without effects, and return the register.

        The function for the value's operation is in `PURE` or in `PLACED`. Raises `Unsupported` if neither table has
        one.
        """
        assert isinstance(value, OpResult)
        operation = value.owner
        # Task 13.5: Call the operation's function.
        raise NotImplementedError("Task 13.5: On demand")

    def hold(self, value: Value, layout: Layout, registers: dict[int, Register]) -> None:
        """Keep a value in these registers."""
        self.homes[value] = layout
        self.registers[value, layout] = registers

    def convert(self, value: Value, layout: Layout) -> None:
        """Fill the table of registers for another layout of a held value."""
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
                self.choice.carry(operation)
                with self.on(self.level, operation.loc):
                    ANCHORED[operation.name](self, operation)
                self.in_use.clear()
            elif operation.name not in PURE and operation.name not in PLACED:
                raise Unsupported(operation)

    def inline(self, block: Block, arguments: Sequence[Register]) -> list[Register]:
        """Emit the operations of a block that combines elements; return the operands of its terminator.

        `arguments` are registers for the block's arguments. The operations are constants and elementwise operations;
        raises `Unsupported`, with "inside a combination", for any other. Values from outside the block are numbers.
        """
        # Task 13.10: Emit the operations, and return registers.
        raise NotImplementedError("Task 13.10: Reductions")

    def parameters(self, function: Operation) -> None:
        """Load a kernel's parameters into registers."""
        body = function.regions[0].block
        name = function.attributes["sym_name"]
        self.levels[body] = 0
        for number, parameter in enumerate(body.arguments):
            if parameter.type == MapType():
                place = self.op("mov.b64", f"{name}_param_{number}")
                self.hold(parameter, SCALAR, {0: self.op("cvta.param.u64", place)})
                continue
            kind = kind_of(parameter.type)
            type = "b8" if width_of(parameter.type) <= 8 else kind
            loaded = self.new("b16" if type == "b8" else kind)
            self.do(f"ld.param.{type}", f"[{name}_param_{number}]", results=(loaded,))
            if kind == "pred":
                loaded = self.op("setp.ne.s16", self.op("and.b16", loaded, 1), 0)
            self.hold(parameter, SCALAR, {0: loaded})

    def run(self, function: Operation) -> list[Instruction]:
        """The instructions of a kernel."""
        self.parameters(function)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEP))
        try:
            self.block(function.regions[0].block)
        finally:
            sys.setrecursionlimit(limit)
        self.do("ret")
        return self.lists[0]
