"""Kernels with one defect each, from `planted.txt`, and the same kernels without it. All have the same parameters:

    x, y    64 random floats                    n    20
    i       the integers from 0 to 63           zero    0
    j       integers, every fifth of them 0     big     2**30
    u       20 floats, and 44 unwritten elements
    out, numbers    64 floats and integers to write to

The grid has two programs, a block 16 elements, and `at` are the positions of a program's block.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
from mini_triton import sanitizer

from tests.corpus.themes import read
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
FOLDER = Path(__file__).parent
PLANTED = read(FOLDER / "planted.txt")


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
