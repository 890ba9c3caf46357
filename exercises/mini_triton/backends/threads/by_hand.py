"""A vector addition by hand: what the back end has to find out by itself in the rest of this package.

All threads of all programs run the same instructions. They differ only in what special registers contain: %tid.x is the
number of the thread in its program, and %ctaid.x is the number of the program.
"""

from __future__ import annotations

from mini_triton.backends.threads.emitter import Emitter
from mini_triton.backends.threads.instructions import Address
from mini_triton.backends.threads.ptx import print_kernel

NAME = "add"
PARAMETERS = ("b64", "b64", "b64", "b32")
"""The addresses of x, y and out, and the number of their elements."""


def add(emitter: Emitter, threads: int) -> None:
    """Emit `out[i] = x[i] + y[i]` for fp32 elements: thread t of program p computes element i = p * `threads` + t.

    No thread reads or writes beyond the last element. `emitter.op` adds an instruction, and returns the new register of
    its result. `emitter.do` adds an instruction with given results, or none, and optionally with a `guard`.
    `emitter.new("b32")` returns a new register, for such a result. In PTX, `[add_param_0]` is the place of the first
    parameter.

    Instructions that suffice, with what they compute:

        add.f32 a, b              the sum of two floats
        ld.global.b32 [a]         4 bytes of memory
        ld.param.b32 [name]       a parameter of 32 bits; b64 for 64 bits
        mad.lo.s32 a, b, c        a * b + c
        mad.wide.s32 a, b, c      a * b + c, where a and b have 32 bits, c and the result 64
        mov.u32 %tid.x            a special register
        ret                       the end; no result
        setp.lt.s32 a, b          whether a < b
        st.global.b32 [a], b      store 4 bytes; no result

    Operands can be registers, numbers, texts such as "%tid.x", and `Address(register)`.
    """
    # Task 13.1: Emit the instructions.
    raise NotImplementedError("Task 13.1: One thread")


def kernel(warps: int, target: str = "sm_90") -> str:
    """The vector addition as PTX, for programs of `warps` warps. (Given.)"""
    emitter = Emitter(warps)
    add(emitter, 32 * warps)
    return print_kernel(NAME, PARAMETERS, emitter.lists[0], emitter.counts, 32 * warps, target)
