"""Floats of every format by their bits."""

from hypothesis import strategies as st
from mini_triton.formats import FLOATS

WIDTHS = {name: row.width for name, row in FLOATS.items()}
EXPONENTS = {name: row.exponent for name, row in FLOATS.items()}  # their bits


def value_of(bits: int, type: str) -> float:
    """The exact number that these bits represent."""
    return FLOATS[type].value_of(bits)


def hexadecimal(bits: int, type: str) -> str:
    """The bits in MLIR's hexadecimal form."""
    return f"0x{bits:0{WIDTHS[type] // 4}X}"


def all_bits(type: str) -> st.SearchStrategy[int]:
    """Bits of this format; zeros, the smallest and largest numbers, infinities and NaNs are drawn more often."""
    width, exponent = WIDTHS[type], EXPONENTS[type]
    infinity = (2**exponent - 1) << (width - 1 - exponent)
    special = [0, 1, 2, infinity - 1, infinity, infinity + 1, 2 ** (width - 1) - 1, 1 << (width - 1 - exponent)]
    signed = [bits | sign << (width - 1) for bits in special for sign in (0, 1)]
    return st.sampled_from(signed) | st.integers(0, 2**width - 1)
