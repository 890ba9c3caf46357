"""Operands whose elements are known numbers, for tests of operations that only move elements.

Such an operation asks `threads.register` for registers of its operands. In these tests, the answer is a register with
4096 times the number of the operand, plus the element's position in row-major order.
"""

from collections.abc import Sequence

import numpy as np
from mini_triton.backends.threads.instructions import Register
from mini_triton.backends.threads.layouts import SCALAR, Layout
from mini_triton.backends.threads.threads import PLACED, Threads
from mini_triton.ir.core import Value
from mini_triton.ir.parser import parse_module
from mini_triton.ir.types import shape_of

from tests.checks import described
from tests.support.m13_threads.probing import look

FAR = 4096


class Numbered(Threads):
    """A back end for one operation. `asked` has the operand, the layout and the number of each register given."""

    def __init__(self, lines: str, warps: int) -> None:
        """The operation is the last of these lines; lines before it define its operands."""
        module = parse_module(f"module {{\n tt.func public @k() {{\n{lines}\n tt.return\n }}\n}}")
        super().__init__(module, warps, 90)
        (function,) = module.body.operations
        self.operation = function.regions[0].block.operations[-2]
        self.text = lines.splitlines()[-1].strip()
        self.asked: dict[Register, tuple[int, Layout, int]] = {}

    def register(self, value: Value, layout: Layout = SCALAR, number: int = 0) -> Register:
        """A register of an operand."""
        operand, shape = self.operation.operands.index(value), shape_of(value.type)
        for vector in (*layout.registers, *layout.threads):
            assert len(vector) == len(shape) and all(at < size for at, size in zip(vector, shape, strict=True)), (
                f"{self.text}\n  a register of operand {operand}, of shape {shape}, was asked for in a layout\n"
                f"  with the vector {vector}, which is not an index of this operand: {layout}"
            )
        registers, lanes, warps = layout.flat(shape)
        start = FAR * operand
        for bit, position in enumerate(registers):
            start ^= position * (number >> bit & 1)
        found, thread = self.op("mov.b32", start), self.op("mov.u32", "%tid.x")
        for bit, position in enumerate((*lanes, *warps)):
            is_one = self.op("and.b32", self.op("shr.u32", thread, bit), 1)
            found = self.op("xor.b32", found, self.op("mul.lo.s32", is_one, position))
        self.asked[found] = operand, layout, number
        return found

    def result(self, layout: Layout, number: int) -> described:
        """The call for a register of the operation's first result."""
        name = f"{PLACED[self.operation.name].__name__}(threads, operation, 0, layout, {number}), where\n"
        name += f"operation = {self.text}\nlayout = {layout}\n"
        return described(name, PLACED[self.operation.name], self, self.operation, 0, layout, number)


def elements(shape: Sequence[int], operand: int = 0) -> np.ndarray:
    """All elements of an operand."""
    return FAR * operand + np.arange(int(np.prod(shape))).reshape(shape)


def check(threads: Numbered, layout: Layout, expected: np.ndarray) -> list[Register]:
    """Compare the elements in all registers of all threads. Returns the registers."""
    __tracebackhide__ = True
    calls = [threads.result(layout, number) for number in range(1 << len(layout.registers))]
    registers = [call.succeeds("a register") for call in calls]
    found, report = look(threads, registers)
    assert not report.errors, f"{calls[0]}\n{report.errors[0]}"
    for number, call in enumerate(calls):
        for thread in range(32 * threads.warps):
            index = layout.index(number, thread) if layout != SCALAR else ()
            got, right = int(found[0, thread, number]), int(expected[index])
            if got != right:
                where = f"for thread {thread}, which holds {index} of the result"
                call.fail(f"{described_element(right)}, {where}", described_element(got))
    return registers


def described_element(number: int) -> str:
    """Which element of which operand a number is."""
    return f"element {number % FAR} of operand {number // FAR}"
