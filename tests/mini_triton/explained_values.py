"""Differences between the NumPy back end and compiled Triton that exceed the rounding of sums, with reasons."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.support.m06_codegen.closeness import EXACT, Rounding

SMALLEST = 2.0**-126  # normal number in fp32


class Explained(NamedTuple):
    """How far results may be off, and the reason for it."""

    rounding: Rounding
    reason: str


class Open(NamedTuple):
    """For which operands an operation may result in anything, and the reason for it."""

    lanes: Callable[..., np.ndarray]
    reason: str


def units(count: float) -> Rounding:
    """So many in the last place, and nothing where the result is subnormal."""
    return Rounding(count, tiny=SMALLEST)


def anywhere(*operands: np.ndarray) -> np.ndarray:
    """All lanes."""
    return np.ones(operands[0].shape, bool)


def subnormal(*operands: np.ndarray) -> np.ndarray:
    """Lanes with an operand too small to be normal in fp32."""
    small = [(x != 0) & (np.abs(x) < SMALLEST) for x in operands if x.dtype == np.float32]
    return np.any(small, axis=0) if small else ~anywhere(*operands)


def not_finite(x: np.ndarray) -> np.ndarray:
    """Infinite and NaN."""
    return ~np.isfinite(x.astype(np.float64))


# By the beginnings of questions; the longest counts.
APPROXIMATE: dict[str, Explained] = {
    "": Explained(EXACT, "there is one right result"),
    "math.": Explained(units(2), "approximated, by the GPU or by its library"),
    "__nv_": Explained(units(4), "approximated by the library, which promises so many units"),
    "math.exp f32": Explained(units(16), "2 to the power of a product, which is rounded first"),
    "__nv_fast_expf": Explained(units(16), "2 to the power of a product, which is rounded first"),
    "__nv_lgammaf": Explained(units(64), "close to its zeros, the sum of its series has lost its leading digits"),
    "arith.divf f32": Explained(units(2), "a product with an approximate reciprocal"),
}
OPEN: dict[str, Open] = {
    "math.": Open(subnormal, "functions take subnormal numbers to be zero"),
    "__nv_": Open(subnormal, "functions take subnormal numbers to be zero"),
    "math.fma": Open(lambda *operands: ~anywhere(*operands), "one instruction"),
    "math.absf": Open(lambda *operands: ~anywhere(*operands), "one instruction"),
    "math.absi": Open(lambda *operands: ~anywhere(*operands), "one instruction"),
    "arith.remf": Open(anywhere, "x - trunc(x / y) * y with all its errors, by which 0.5 % 0.1 is below zero"),
    "__nv_fast_logf": Open(anywhere, "no digit is promised around 1"),
    "__nv_fast_sinf": Open(anywhere, "no digit is promised of large numbers"),
    "__nv_fast_cosf": Open(anywhere, "no digit is promised of large numbers"),
    "tt.fp_to_fp f8E5M2 -> bf16": Open(not_finite, "Triton makes numbers of infinity and NaN"),
}
