"""Accesses to memory in a kernel's PTX: how many bytes each thread moves at a time.

A GPU moves up to 16 bytes for each thread of a warp with one instruction, if they are next to each other, and if the
compiler knows that their address is a multiple of 16. That is what divisibility in TTIR is for.

    ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];         load, 4 times 32 bits: 16 bytes
    st.global.b16 [ %rd2 + 0 ], { %rs1 };                          store, 16 bits: 2 bytes
    cp.async.cg.shared.global [ %r5 + 0 ], [ %rd3 + 0 ], 0x10;     copy to shared memory: 0x10 bytes

Source: NVIDIA's "PTX ISA", chapters on `ld`, `st` and `cp.async`.
"""

from __future__ import annotations

import re
from collections import Counter

_ACCESS = re.compile(r"\b(ld|st)(?:\.volatile)?\.global(?:\.[\w:]+)*?(?:\.v([248]))?\.[bfsu](8|16|32|64|128)\b")
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global.*?\], *\[.*?\], *(0x[0-9a-f]+|\d+)")
_MMA = re.compile(r"\b(?:wgmma\.mma_async|mma)\.sync\.")

Access = tuple[str, int]


def accesses(ptx: str) -> Counter[Access]:
    """How often a kernel's text has each kind of access to global memory, and of how many bytes of a thread.

    The kinds are "load", "store" and "copy": ("load", 16) for `ld.global.v4.b32`.
    """
    # [task 10.3] `_ACCESS.findall` gives "ld" or "st", the vector's length ("" for 1) and bits; `_COPY.findall`
    # bytes, which `int(text, 0)` reads.
    found: Counter[Access] = Counter()
    for name, many, bits in _ACCESS.findall(ptx):
        found["load" if name == "ld" else "store", int(many or 1) * int(bits) // 8] += 1
    for size in _COPY.findall(ptx):
        found["copy", int(size, 0)] += 1
    return found
    # [end]


def matrix_products(ptx: str) -> int:
    """How many instructions for tensor cores a kernel's text has. (Given.)"""
    return len(_MMA.findall(ptx))
