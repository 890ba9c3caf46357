"""Functions for generated code: scalar arithmetic, and operations that CPUs lack. (Given.)

The latter exist in two versions: instructions for a GPU, and Python for Numba's simulator.
"""

# ruff: noqa: F403, F405 - generated code imports these names from here
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mini_triton.codegen.cuda_gen.simulation import SIMULATED

if TYPE_CHECKING or SIMULATED:
    from mini_triton.codegen.cuda_gen.simulated import *
else:
    from mini_triton.codegen.cuda_gen.instructions import *


# --- integers


@device
def divsi(x, y):
    """`x / y`, rounded toward zero."""
    if y == 0:
        return 0
    quotient = x // y
    return quotient + (quotient * y != x and (x < 0) != (y < 0))


@device
def remsi(x, y):
    """The remainder of `divsi`."""
    if y == 0:
        return 0
    rest = x % y
    return rest - y if rest != 0 and (x < 0) != (y < 0) else rest


@device
def floordivsi(x, y):
    """`x / y`, rounded down."""
    return 0 if y == 0 else x // y


@device
def ceildivsi(x, y):
    """`x / y`, rounded up."""
    return 0 if y == 0 else x // y + (x % y != 0)


@device
def divui(x, y):
    return x if y == 0 else x // y


@device
def remui(x, y):
    return y if y == 0 else x % y


# --- floats: the larger and the smaller


@device
def maximumf(x, y):
    """The larger number, or NaN if either is NaN. +0 is larger than -0."""
    if x == 0 and y == 0:
        return x + y
    return x if x != x or x > y else y


@device
def minimumf(x, y):
    """The smaller number, or NaN if either is NaN. -0 is smaller than +0."""
    if x == 0 and y == 0:
        return -(-x + -y)
    return x if x != x or x < y else y


# --- narrow floats: held as float32, stored in 16 bits


@device
def round_f16(x):
    """A float32 rounded to fp16, as a float32."""
    return from_f16(to_f16(x))


@device
def to_bf16(x):
    """The bits of the nearest bf16."""
    bits = np.uint32(bits_of_32(x))
    if x != x:
        return np.uint16((bits >> np.uint32(16)) | np.uint32(0x40))
    return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))


@device
def from_bf16(bits):
    """The bf16 number with these bits, as a float32."""
    return float_of_32(np.int32(np.uint32(bits) << np.uint32(16)))


@device
def round_bf16(x):
    """A float32 rounded to bf16, as a float32."""
    return from_bf16(to_bf16(x))


@device
def odd32(x):
    """A float64 as a float32, rounded to odd: see `exact.to_odd`."""
    near = np.float32(x)
    if np.float64(near) == x or x != x:
        return near
    bits = np.uint32(bits_of_32(near))
    if abs(np.float64(near)) > abs(x):
        bits = bits - np.uint32(1)
    return float_of_32(np.int32(np.uint32(bits) | np.uint32(1)))
