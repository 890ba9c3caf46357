"""Floats of every format by their bits."""

from __future__ import annotations

import math
import struct

from hypothesis import strategies as st

WIDTHS = {"f8E5M2": 8, "f8E4M3FN": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
EXPONENTS = {"f8E5M2": 5, "f8E4M3FN": 4, "f16": 5, "bf16": 8, "f32": 8, "f64": 11}  # their bits
_FORMATS = {16: "e", 32: "f", 64: "d"}


def value_of(bits: int, type: str) -> float:
    """The number that these bits are, exactly."""
    if type == "f8E4M3FN":  # no infinity, and only all ones are NaN
        exponent, mantissa = bits >> 3 & 15, bits & 7
        size = math.nan if bits & 127 == 127 else math.ldexp(mantissa + 8 * (exponent > 0), max(exponent, 1) - 10)
        return math.copysign(size, -1.0 if bits >> 7 else 1.0)
    if type in ("f8E5M2", "bf16"):  # the upper half of a wider format
        return value_of(bits << WIDTHS[type], {"f8E5M2": "f16", "bf16": "f32"}[type])
    width = WIDTHS[type]
    return struct.unpack(f">{_FORMATS[width]}", bits.to_bytes(width // 8, "big"))[0]


def hexadecimal(bits: int, type: str) -> str:
    """The bits as MLIR writes them."""
    return f"0x{bits:0{WIDTHS[type] // 4}X}"


def all_bits(type: str) -> st.SearchStrategy[int]:
    """Bits of this format; zeros, the smallest, the largest, infinities and NaNs more often."""
    width, exponent = WIDTHS[type], EXPONENTS[type]
    infinity = (2**exponent - 1) << (width - 1 - exponent)
    special = [0, 1, 2, infinity - 1, infinity, infinity + 1, 2 ** (width - 1) - 1, 1 << (width - 1 - exponent)]
    signed = [bits | sign << (width - 1) for bits in special for sign in (0, 1)]
    return st.sampled_from(signed) | st.integers(0, 2**width - 1)
