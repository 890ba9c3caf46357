"""Functions of floats that GPUs have no exact instruction for."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from mini_triton.backends.threads.elementwise import narrow, widen
from mini_triton.backends.threads.instructions import Register, Unsupported, width_of
from mini_triton.backends.threads.threads import PURE, Threads, rule
from mini_triton.ir.core import Operation

LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453


def number(value: float) -> str:
    """A 32-bit float as an operand."""
    return f"0f{struct.pack('>f', value).hex().upper()}"


def scaled_exp(threads: Threads, x: Register) -> Register:
    return threads.op("ex2.approx.f32", threads.op("mul.f32", x, number(LOG2_E)))


def scaled_log(threads: Threads, x: Register) -> Register:
    return threads.op("mul.f32", threads.op("lg2.approx.f32", x), number(LN_2))


def instruction(opcode: str) -> Callable[[Threads, Register], Register]:
    """The function of one instruction."""
    return lambda threads, x: threads.op(opcode, x)


FUNCTIONS: dict[str, Callable[[Threads, Register], Register]] = {
    "math.exp2": instruction("ex2.approx.f32"),
    "math.log2": instruction("lg2.approx.f32"),
    "math.rsqrt": instruction("rsqrt.approx.f32"),
    "math.floor": instruction("cvt.rmi.f32.f32"),
    "math.ceil": instruction("cvt.rpi.f32.f32"),
    "math.exp": scaled_exp,
    "math.log": scaled_log,
}


@rule(PURE, *FUNCTIONS)
def function(threads: Threads, operation: Operation, operands: Sequence[Register]) -> Register:
    """A function of one float."""
    type = operation.result.type
    if width_of(type) == 64:
        if operation.name in ("math.floor", "math.ceil"):
            return threads.op("cvt.rmi.f64.f64" if operation.name == "math.floor" else "cvt.rpi.f64.f64", *operands)
        raise Unsupported(operation, "of 64-bit floats")
    return narrow(threads, type, FUNCTIONS[operation.name](threads, widen(threads, type, operands[0])))
