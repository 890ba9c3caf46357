"""Kernels with one defect each, and the same kernels without it: `{wrong|right}` stands for either.

The defect is in the line with `# here`, or else in the line with the braces. All kernels have the same parameters:

    x, y    64 random floats                    n    20
    i       the integers from 0 to 63           zero    0
    j       integers, every fifth of them 0     big     2**30
    u       20 floats, and 44 unwritten elements
    out, numbers    64 floats and integers to write to

The grid has two programs, a block 16 elements, and `at` are the positions of a program's block.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from mini_triton import sanitizer

from tests.support.sources import load

GRID, BLOCK = (2,), 16
HEADER = """
import triton
import triton.language as tl

@triton.jit
def quotient(a, b):
    return a // b

@triton.jit
def kernel(x, y, i, j, u, out, numbers, n, zero, big, BLOCK: tl.constexpr):
    pid, lane = tl.program_id(0), tl.arange(0, BLOCK)
    at = pid * BLOCK + lane
    rows, columns = lane[:, None], lane[None, :]
"""
PLANTED: dict[str, list[str]] = {
    "masked": [
        "v = tl.load(x + at, mask=at < n{|, other=0.0})\ntl.store(out + at, v)",
        "v = tl.load(x + at, mask=at < n{|, other=0.0})\ntl.store(out + pid, tl.sum(v, 0))",
        "v = tl.load(x + at, mask=at < n{|, other=float('-inf')})\nm = tl.max(v, 0)\ntl.store(out + pid, m)",
        "v = tl.load(x + at, mask=at < n{|, other=0.0})\ntl.store(out + at, tl.cumsum(v, 0))",
        "v = tl.load(x + at, mask=at < n{|, other=0.0})\ntl.atomic_add(out + at % 4, v)",
        "flag = tl.load(x + pid, mask=n < pid{|, other=0.0})\nif flag > 0:\n    tl.store(out + pid, 1.0)",
        "k = tl.load(i + at, mask=at < n{|, other=0})\ntl.store(out + at, tl.load(x + k))",
        "v = tl.load(x + rows * 2 + columns, mask=columns < n - 8{|, other=0.0})\n"
        "tl.store(out + columns + pid * BLOCK, tl.sum(tl.dot(v, v), 0)[None, :])",
        "total = tl.zeros((BLOCK,), tl.float32)\nfor start in range(0, 64, BLOCK):\n"
        "    total += tl.load(x + start + lane, mask=start + lane < n{|, other=0.0})\ntl.store(out + at, total)",
        "v = tl.load(x + at, mask=at < n{| + 12})\ntl.store(out + at, tl.where(at < n + 12, v * 2, 0.0))",
        "v = tl.load(x + rows * 4 + columns, mask=rows < n - 10{|, other=0.0})\n"
        "tl.store(out + pid * BLOCK + lane, tl.sum(tl.trans(v), 1))",
        "v = tl.load(i + at, mask=at < n{|, other=0})\nc = tl.histogram(v, 16)\ntl.store(numbers + at, c)",
    ],
    "uninitialized": [
        "v = tl.load(u + at, mask=at < n{ + 4|}, other=0.0)\ntl.store(out + at, v)",
        "v = tl.load(u + at, mask=at < n{ + 4|}, other=0.0)\ntl.store(out + pid, tl.sum(v, 0))",
        "v = tl.load(u + at, mask=at < n{ + 4|}, other=0.0)\ntl.store(out + pid, tl.max(v * 2, 0))",
        "{tl.atomic_add(u + at, 1.0)|tl.store(u + at, 1.0)}",
        "v = tl.load(u + {32|0} + pid)\nif v > 0:\n    tl.store(out + pid, v)",
        "k = tl.load(u + {at|lane}).to(tl.int32)\ntl.store(out + at, tl.load(x + k % 64))",
        "v = tl.load(u + rows + columns, mask=rows + columns < n{ + 1|}, other=0.0)\n"
        "tl.store(out + pid * BLOCK + lane, tl.sum(tl.dot(v, v), 0))",
        "for k in range(2):\n    v = tl.load(u + {at + 16|lane} + k)\n    tl.store(out + at, v)",
        "tl.store(u + at + 32, 1.0)\nv = tl.load(u + at + {0|32})\ntl.store(out + at, v)",
        "v = tl.load(u + at, mask=at < n{ + 1|}, other=0.0)\ntl.store(out + at, tl.cumsum(v, 0))",
        "p = tl.make_block_ptr(u, ({36|20},), (1,), (pid * BLOCK,), (BLOCK,), (0,))\n"
        "v = tl.load(p, boundary_check=(0,), padding_option='zero')  # here\ntl.store(out + at, v)",
        "k = tl.load(u + {40|3})\nwhile k > 0.5:\n    k -= 1.0\ntl.store(out + pid, k)",
    ],
    "races": [
        "tl.store(out{| + pid}, pid.to(tl.float32))",
        "tl.store(out + at{ // 2|}, tl.load(x + at))",
        "tl.store(out + {lane|at}, tl.load(x + at))",
        "tl.store(out + pid * (BLOCK{ - 1|}) + lane, tl.load(x + at))",
        "total = tl.sum(tl.load(x + at), 0)\n{tl.store(out, tl.load(out) + total)|tl.atomic_add(out, total)}",
        "k = tl.load(i + at)\ntl.store(numbers + k{ % 8|}, k)",
        "old = tl.atomic_add(numbers, 1)\ntl.store(numbers + 1{| + pid}, old)",
        "tl.store(out + rows * {8|16} + columns, rows * 16.0 + columns, mask=(rows < 4) & (pid == 0))",
        "for k in range(4):\n    tl.store(out + pid * {2|4} + k, 10.0 * pid + k)",
        "tl.store(out + {tl.maximum(at - 8, 0)|at}, at + pid * 100.0)",
        "if pid == 0:\n    tl.store(out, 1.0)\nelse:\n    tl.store(out{| + 1}, 2.0)",
        "p = tl.make_block_ptr(out, (64,), (1,), (pid * {8|16},), (16,), (0,))\ntl.store(p, tl.load(x + at))  # here",
        "v = tl.load(x + at{ + 1|})\ntl.store(x + at, v + 1.0)",
        "v = tl.load(x + (at{ + 63|}) % 64)\ntl.store(x + at, v + 1.0)",
        "tl.store(out + at, 1.0)\nv = tl.load(out + {31 - at|at})\ntl.store(x + at, v)",
        "tl.store(out + pid, 1.0)\nif pid == 0:\n    tl.store(x, tl.load(out + {1|0}))",
        "if pid == 1:\n    tl.store(x + 3, 7.0)\nelse:\n    tl.store(out, tl.load(x + {3|4}))",
        "tl.store(numbers + pid, pid + 1)\nk = tl.load(numbers + {1 - |}pid)\n"
        "tl.store(out + at, tl.load(x + k + lane))",
        "{total = tl.load(y)|total = 0.0}\nfor k in range(4):\n    tl.store(y + pid * 4 + k, total + k)",
        "for k in range(3):\n    v = tl.load(x + pid * {2|3} + k)  # here\n    tl.store(x + pid * 3 + k, v + 1.0)",
        "tl.store(out + at, 1.0)\nold = tl.atomic_add(numbers, 1)\nif old == {0|1}:\n"
        "    tl.store(x + lane, tl.load(out + {16 + |}lane))  # here",
        "v = tl.load(x + rows * 4 + columns, mask=(rows < 9) & (columns < {8|4}) & (rows // 8 == pid))\n"
        "tl.store(x + rows * 4 + columns, v + 1.0, mask=(rows < 9) & (columns < 4) & (rows // 8 == pid))",
        "if pid == 0:\n    tl.store(out, 2.0)\n{tl.atomic_add(out, 1.0)|tl.atomic_add(out + 1, 1.0)}",
    ],
    "overflow": [
        "k = at{|.to(tl.int64)} * big // big\ntl.store(out + k, 1.0)",
        "k = at{|.to(tl.int64)} + 2147483647 - 2147483647\ntl.store(out + k, 1.0)",
        "k = (at{|.to(tl.int64)} << 28) // 268435456\ntl.store(out + k, tl.load(x + at))",
        "k = at{|.to(tl.int64)} * -big // -big\ntl.store(out + at, tl.load(x + k))",
        "base = (pid{|.to(tl.int64)} + 2) * big // big - 2\ntl.store(out + base * BLOCK + lane, 1.0)",
        "k = at{|.to(tl.int64)}\nfor _ in range(2):\n    k = k + big  # here\nk = k % big\ntl.store(out + k, 1.0)",
        "k = (rows{|.to(tl.int64)} * big // big) * 4 + columns % 4\ntl.store(out + k, 1.0)",
        "k = tl.maximum(at{|.to(tl.int64)} * big, 0) // big\ntl.store(out + at, tl.load(x + k))",
        "k = tl.reshape(tl.reshape(at{|.to(tl.int64)} * big, (4, 4)), (16,)) // big\ntl.store(out + k, 1.0)",
        "k = at{|.to(tl.int64)} * big % (big - 1)\ntl.store(out + k, 1.0)",
        "k = quotient(at{|.to(tl.int64)} * big, big)\ntl.atomic_add(out + k, 1.0)",
        "k = tl.where(at > 3, at{|.to(tl.int64)} * big // big, at)\ntl.store(out + k, 1.0)",
    ],
    "division": [
        "a, b = tl.load(i + at), tl.load(j + at)\ntl.store(numbers + at, a // {b|tl.maximum(b, 1)})",
        "a, b = tl.load(i + at), tl.load(j + at)\ntl.store(numbers + at, a % {b|tl.maximum(b, 1)})",
        "tl.store(numbers + at, at // (zero{|+ 1}))",
        "a, b = tl.load(i + at), tl.load(j + at)\nq = a // {b|tl.maximum(b, 1)}\ntl.store(numbers + pid, tl.sum(q, 0))",
        "a, b = tl.load(i + at).to(tl.uint32), tl.load(j + at).to(tl.uint32)\n"
        "tl.store(numbers + at, (a // {b|(b + 1)}).to(tl.int32))",
        "a, b = tl.load(i + at), tl.load(j + at)\nq = (a % {b|tl.maximum(b, 1)}) % 64\ntl.store(out + q, 1.0)",
        "for k in range(0, 4 // (zero{|+ 2})):\n    tl.store(numbers + pid, 1)",
        "a = tl.load(i + at).to(tl.int64)\ntl.store(numbers + at, (n // {a|(a + 1)}).to(tl.int32))",
        "a, b = tl.load(i + at), tl.load(j + at, mask=at < n, other=0)\n"
        "tl.store(numbers + at, a // {b|tl.maximum(b, 1)}, mask=at < n)",
        "if n % (zero{|+ 3}) == 1:\n    tl.store(out + pid, 1.0)",
        "a, b = tl.load(i + at), tl.load(j + at)\n"
        "q = tl.cumsum(a // {b|tl.maximum(b, 1)}, 0)\ntl.store(numbers + at, q)",
        "a, b = tl.load(i + at), tl.load(j + at)\nq = tl.where({b >= 0|b != 0}, a // b, 0)  # here\n"
        "tl.store(numbers + at, q)",
    ],
}


def write(body: str, wrong: bool) -> tuple[str, int]:
    """The text of a kernel with or without its defect, and the line of the defect."""
    lines = (HEADER + "\n".join(f"    {line}" for line in body.split("\n"))).split("\n")
    marked = [number for number, line in enumerate(lines, 1) if "# here" in line]
    braces = [number for number, line in enumerate(lines, 1) if "{" in line]
    text = re.sub(r"{([^|{}]*)\|([^{}]*)}", lambda match: match[1 if wrong else 2], "\n".join(lines))
    return text + "\n", (marked or braces)[0]


def arguments() -> dict[str, Any]:
    """The arguments of a kernel's launch."""
    random = np.random.default_rng(0)
    u = sanitizer.uninitialized(np.empty(64, np.float32))
    u[:20] = np.arange(20) / 8
    integers = np.arange(64, dtype=np.int32)
    floats = random.normal(size=(2, 64)).astype(np.float32)
    return {
        **{"x": floats[0].copy(), "y": floats[1].copy(), "u": u, "i": integers, "j": (integers % 5).astype(np.int32)},
        **{"out": np.zeros(64, np.float32), "numbers": np.zeros(64, np.int32)},
        **{"n": 20, "zero": 0, "big": 2**30},
    }


def reports(body: str, wrong: bool) -> tuple[list[Any], int]:
    """The sanitizer's report on a launch, and the line of the defect. The environment selects the checks."""
    text, line = write(body, wrong)
    with sanitizer.collect() as found:
        load(text)["kernel"][GRID](**arguments(), BLOCK=BLOCK)
    return found, line
