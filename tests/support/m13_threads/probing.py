"""Look into the registers of all threads: run a thread's instructions on the emulator, and store its registers."""

from collections.abc import Sequence
from typing import Any

import mini_triton.backends.threads.back_end  # noqa: F401 (rules for all operations)
import numpy as np
from mini_triton.backends.threads.barriers import add_barriers
from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address, Register, kind_of, width_of
from mini_triton.backends.threads.layouts import SCALAR, Layout
from mini_triton.backends.threads.ptx import print_kernel
from mini_triton.backends.threads.threads import Threads
from mini_triton.emulator import emulate
from mini_triton.emulator.report import Report
from mini_triton.ir.core import Value
from mini_triton.ir.parser import parse_module

OUT = "k_param_0"
"""The address at which threads store their registers: the first parameter of a kernel named k."""


def look(
    emitter: Emitter,
    registers: Sequence[Register],
    arguments: Sequence[Any] = (),
    types: Sequence[str] = (),
    programs: int = 1,
) -> tuple[np.ndarray, Report]:
    """The bits of registers at the end of all instructions: uint64[programs, threads, registers], with zeros on top.

    `arguments`, of PTX's `types`, are the kernel's parameters after the first.
    """
    threads = 32 * emitter.warps
    with emitter.on(0):
        thread, program = emitter.op("mov.u32", "%tid.x"), emitter.op("mov.u32", "%ctaid.x")
        out = emitter.op("ld.param.b64", f"[{OUT}]")
        place = emitter.op("mad.lo.s32", program, threads, thread)
        base = emitter.op("mad.wide.s32", place, 8 * len(registers), out)
        for number, register in enumerate(registers):
            emitter.do("st.global.b64", Address(base, 8 * number), as_bits(emitter, register))
        emitter.do("ret")
    found = np.zeros((programs, threads, len(registers)), np.uint64)
    instructions = add_barriers(emitter.lists[0]) if emitter.shared else emitter.lists[0]
    ptx = print_kernel("k", ["b64", *types], instructions, emitter.counts, threads, "sm_90")
    report = emulate(ptx, (programs, 1, 1), [found, *arguments], shared=emitter.shared)
    return found, report


def as_bits(emitter: Emitter, register: Register) -> Register:
    """A register's bits in a register of 64 bits."""
    if register.kind == "pred":
        register = emitter.op("selp.b32", 1, 0, register)
    return register if register.kind == "b64" else emitter.op(f"cvt.u64.u{register.kind[1:]}", register)


def threads_of(text: str, warps: int = 4, capability: int = 90) -> tuple[Threads, list[Value]]:
    """A back end for a kernel k in TTIR, whose first parameter is a pointer, with the parameters in registers.

    Also the kernel's values in order: its parameters, then the results of its operations.
    """
    module = parse_module(text)
    (function,) = module.body.operations
    threads = Threads(module, warps, capability)
    threads.parameters(function)
    block = function.regions[0].block
    return threads, [*block.arguments, *(value for operation in block.operations for value in operation.results)]


def elements(
    threads: Threads, value: Value, layout: Layout = SCALAR, arguments: Sequence[Any] = ()
) -> tuple[np.ndarray, Report]:
    """The bits of a value's elements: uint64[threads, registers], with a column for each distinct register."""
    (block,) = (block for block, level in threads.levels.items() if level == 0)
    types = ["b8" if width_of(p.type) <= 8 else kind_of(p.type) for p in block.arguments[1:]]
    found, report = look(threads, list(threads.all_registers(value, layout).values()), arguments, types)
    return found[0], report
