"""Arithmetic of sizes, for launches and for the compile-time values of a kernel. (Given.)"""

from __future__ import annotations

from mini_triton.frontend.function import constexpr_function


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """`x / y` rounded up."""
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not below `n`; 0 for 0."""
    return 1 << (n - 1).bit_length() if n else 0
