"""`tl.device_print`: calls of CUDA's `vprintf`, with the elements' numbers and values in local memory.

Source: `PrintOpToLLVM.cpp` in Triton.
"""

from __future__ import annotations

from mini_triton.backends.threads.elementwise import extended, widen
from mini_triton.backends.threads.instructions import Address, Register, is_float, kind_of, width_of
from mini_triton.backends.threads.layouts import SCALAR
from mini_triton.backends.threads.ptx import VALUES
from mini_triton.backends.threads.threads import ANCHORED, Threads, rule
from mini_triton.ir.core import Operation
from mini_triton.ir.types import Type, is_pointer


@rule(ANCHORED, "tt.print")
def show(threads: Threads, operation: Operation) -> None:
    """Print a line for each element of each operand; without operands, one line."""
    prefix, signs = str(operation.attributes["prefix"]), operation.attributes["isSigned"]
    assert isinstance(signs, tuple)
    program = [threads.op("mov.u32", f"%ctaid.{axis}") for axis in "xyz"]
    start = "pid (%u, %u, %u)"
    if not operation.operands:
        call(threads, f"{start}{prefix}\n", program, threads.speaker(SCALAR))
    for number, (operand, signed) in enumerate(zip(operation.operands, signs, strict=True)):
        which = f"(operand {number}) " if len(signs) > 1 else ""
        layout = threads.choice.of_value(operand)
        form = form_of(operand.type, bool(signed), bool(operation.attributes["hex"]))
        for register, value in threads.all_registers(operand, layout).items():
            index = [threads.coordinate(layout, axis, register) for axis in range(len(layout.index(0)))]
            place = f" idx ({', '.join(['%u'] * len(index))})"
            shown = promoted(threads, operand.type, value, bool(signed), "x" in form)
            call(threads, f"{start}{place}{prefix}{which}{form}\n", [*program, *index, shown], threads.speaker(layout))


def form_of(type: Type, signed: bool, hexadecimal: bool) -> str:
    """How C's `printf` prints a value of this type."""
    long = "ll" if width_of(type) == 64 else ""
    if hexadecimal:
        return f"0x%0{max(1, width_of(type) // 4)}{long}x"
    if is_pointer(type):
        return "%p"
    return "%f" if is_float(type) else f"%{long}{'i' if signed else 'u'}"


def promoted(threads: Threads, type: Type, value: Register, signed: bool, bits: bool) -> Register:
    """A value as C passes it to a function like `printf`: floats as doubles, integers with at least 32 bits."""
    if is_float(type) and not bits:
        wide = widen(threads, type, value)
        return wide if wide.kind == "b64" else threads.op("cvt.f64.f32", wide)
    if kind_of(type) == "pred":
        return threads.op("selp.b32", 1, 0, value)
    if width_of(type) >= 32:
        return value
    letter = "s" if signed and not bits else "u"
    return threads.op(f"cvt.{letter}32.{letter}16", extended(threads, type, value, letter))


def call(threads: Threads, text: str, values: list[Register], guard: Register | None) -> None:
    """Call `vprintf`. The values lie in local memory, each at a multiple of its size."""
    local = threads.only_once("printed", lambda: threads.op("mov.b64", VALUES))
    offset = 0
    for value in values:
        size = int(value.kind[1:]) // 8
        offset = -(-offset // size) * size
        threads.do(f"st.local.{value.kind}", Address(local, offset), value)
        offset += size
    threads.local = max(threads.local, offset)
    if text not in threads.texts:
        threads.texts.append(text)
    format = threads.op("cvta.global.u64", threads.op("mov.b64", f"text_{threads.texts.index(text)}"))
    threads.do("call", format, threads.op("cvta.local.u64", local), guard=guard)
