"""Run one operation on numbers: each thread has operands of its own.

computed("%r = arith.addi %x, %y : i32", ["i32", "i32"], [x, y], np.int32)       # an element for each of x and y
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Instruction, Register, kind_of, size_of, width_of
from mini_triton.backends.threads.layouts import SCALAR
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.backends.threads.threads import Threads

from tests.checks import described
from tests.support.m13_threads import probing

NAMES = "xyzw"
WARPS = 4
GARBAGE = 0xA500
"""The upper half of a register that holds an 8-bit element."""


def dtype(width: int, signed: bool = True) -> np.dtype:
    """NumPy's dtype of integers with so many bits."""
    return np.dtype(bool) if width == 1 else np.dtype(f"{'i' if signed else 'u'}{width // 8}")


def text_of(line: str, types: Sequence[str]) -> str:
    """A kernel with a parameter %x, %y, … for each type, and one operation."""
    parameters = ", ".join(f"%{name}: {type}" for name, type in zip(NAMES, types, strict=False))
    return f"module {{\ntt.func public @k(%out: !tt.ptr<i64>, {parameters}) {{\n{line}\ntt.return\n}}\n}}\n"


def result(line: str, types: Sequence[str], capability: int) -> tuple[Threads, Register, list[Instruction]]:
    """The back end, the register of the operation's result, and the instructions that compute it."""
    threads, (_, *values) = probing.threads_of(text_of(line, types), WARPS, capability)
    *given, wanted = values
    threads.lists[0].clear()
    for number, value in enumerate(given, 1):
        register = loaded(threads, f"[k_param_{number}]", size_of(value.type), kind_of(value.type))
        if width_of(value.type) == 8:
            register = threads.op("or.b16", threads.op("and.b16", register, 255), GARBAGE)
        threads.hold(value, SCALAR, {0: register})
    before = len(threads.lists[0])
    register, kind = threads.register(wanted), kind_of(wanted.type)
    assert register.kind == kind, f"`{line}` is computed in a register of kind {register.kind} instead of {kind}"
    return threads, register, threads.lists[0][before:]


def loaded(emitter: Emitter, parameter: str, size: int, kind: str) -> Register:
    """This thread's element of an array."""
    thread, program = emitter.op("mov.u32", "%tid.x"), emitter.op("mov.u32", "%ctaid.x")
    place = emitter.op("mad.lo.s32", program, 32 * emitter.warps, thread)
    address = Address(emitter.op("mad.wide.s32", place, size, emitter.op("ld.param.b64", parameter)))
    register = emitter.new("b16" if size == 1 else f"b{8 * size}")
    emitter.do(f"ld.global.b{8 * size}", address, results=(register,))
    return emitter.op("setp.ne.s16", register, 0) if kind == "pred" else register


def computed(
    line: str, types: Sequence[str], operands: Sequence[np.ndarray], dtype: Any, capability: int = 90
) -> np.ndarray:
    """The results, one for each element of the operands."""
    size = 32 * WARPS
    count = len(operands[0])
    programs = -(-count // size)
    padded = [np.resize(array, programs * size) for array in operands]
    threads, register, _ = result(line, types, capability)
    bits, report = probing.look(threads, [register], padded, ["b64"] * len(padded), programs)
    assert not report.errors, f"{line}\n" + "\n".join(map(str, report.errors))
    bits = bits.reshape(-1)[:count]
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return bits.astype(bool)
    return bits.astype(f"u{dtype.itemsize}").view(dtype)


def opcodes(line: str, types: Sequence[str], capability: int = 90) -> list[str]:
    """The opcodes of the operation's instructions."""
    _, _, emitted = result(line, types, capability)
    return [instruction.opcode for instruction in emitted]


def program(lines: Sequence[str], capability: int) -> str:
    """PTX for operations on %x, %y, …, each of the first type in its line: one kernel, for NVIDIA's assembler."""
    kinds = [re.split(" : | to ", line)[1] for line in lines]
    parameters = [f"%{name}{place}: {kind}" for place, kind in enumerate(kinds) for name in NAMES]
    body = [re.sub(r"%(\w)", rf"%\g<1>{place}", line) for place, line in enumerate(lines)]
    text = [
        "module {",
        f"tt.func public @k(%out: !tt.ptr<i64>, {', '.join(parameters)}) {{",
        *body,
        "tt.return",
        "}",
        "}",
    ]
    threads, values = probing.threads_of("\n".join(text), WARPS, capability)
    for value in values[-len(lines) :]:
        threads.register(value)
    threads.do("ret")
    types = ["b8" if width_of(value.type) <= 8 else kind_of(value.type) for value in values[: -len(lines)]]
    return print_kernel("k", types, threads.lists[0], threads.counts, 32 * WARPS, f"sm_{capability}")


def check(
    line: str,
    types: Sequence[str],
    operands: Sequence[np.ndarray],
    expected: np.ndarray,
    because: str = "",
    capability: int = 90,
) -> None:
    """Require these results, to the last bit; all NaN are equal."""
    __tracebackhide__ = True
    asked = described(f"`{line}`", computed, line, types, operands, expected.dtype, capability)
    got = asked()
    wrong = got.view(f"u{got.itemsize}") != expected.view(f"u{expected.itemsize}")
    if expected.dtype.kind not in "biu":
        with np.errstate(all="ignore"):
            wrong &= ~(np.isnan(got.astype(np.float64)) & np.isnan(expected.astype(np.float64)))
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        given = ", ".join(f"%{name} = {array[place]}" for name, array in zip(NAMES, operands, strict=False))
        found = described(f"`{line}` with {given}", computed)
        found.fail(f"{expected[place]}", f"{got[place]}", because)
