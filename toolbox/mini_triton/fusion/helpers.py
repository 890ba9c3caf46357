"""Functions that generated kernels call where PyTorch's results differ from a plain operator's. (Given.)

Source: PyTorch's `torch/_inductor/runtime/triton_helpers.py`, which contains the same functions.
"""

from __future__ import annotations

import mini_triton as triton
import mini_triton.language as tl


@triton.jit
def maximum(a, b):
    """The larger value, or NaN if either is NaN."""
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def minimum(a, b):
    """The smaller value, or NaN if either is NaN."""
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def first_largest(a, i, b, j):
    """The larger value and its index. NaN beats every number; on a tie, the lower index wins."""
    a_wins = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(a_wins, a, b), tl.where(a_wins, i, j)


@triton.jit
def first_smallest(a, i, b, j):
    """The smaller value and its index. NaN beats every number; on a tie, the lower index wins."""
    a_wins = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(a_wins, a, b), tl.where(a_wins, i, j)


@triton.jit
def sign(x):
    """-1, 0 or 1; 0 for NaN."""
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


@triton.jit
def floor_divide_integers(a, b):
    quotient = a // b
    return tl.where((a % b != 0) & ((a < 0) != (b < 0)), quotient - 1, quotient)


@triton.jit
def remainder_of_integers(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def remainder(a, b):
    rest = tl.extra.libdevice.fmod(a, b)
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def floor_divide(a, b):
    """Python's `//` for floats: exact even where `floor(a / b)` would round up."""
    rest = tl.extra.libdevice.fmod(a, b)
    quotient = (a - rest) / b
    quotient = tl.where((rest != 0) & ((b < 0) != (rest < 0)), quotient - 1, quotient)
    whole = tl.extra.libdevice.floor(quotient)
    whole = tl.where(quotient - whole > 0.5, whole + 1, whole)
    return tl.where(b == 0, a / b, tl.where(quotient == 0, tl.extra.libdevice.copysign(0.0, a / b), whole))


@triton.jit
def tile_of(program, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Row and column of a program's tile. Neighboring programs share rows or columns of their operands."""
    first = program // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    return first + program % (GROUP * tiles_n) % height, program % (GROUP * tiles_n) // height
