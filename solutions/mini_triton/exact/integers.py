"""Integer arithmetic. The IR's integers are signless: the operation determines the signedness.

Arrays of IR integers are signed. `unsigned` reads the same bits as unsigned integers.

Source: MLIR's `ArithOps.td`. Where `ArithOps.td` leaves a result undefined, as for an excessive shift, these functions
return a GPU's result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
"""A NumPy array, or a NumPy scalar."""


def unsigned(x: Array) -> Array:
    """The bits of `x`, read as an unsigned integer: the `int8` -1 and an fp8 with all bits set become the `uint8` 255.

    A boolean becomes the `uint8` 0 or 1.
    """
    # [task 6.12] Read bits; do not convert numbers.
    return x.view(f"u{x.itemsize}")
    # [end]


def of_unsigned(function: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
    """`function` of two integers that are read as unsigned; its result is viewed as signed again. (Given.)"""
    result = function(unsigned(x), unsigned(y))
    return result.view(f"i{result.itemsize}")


# --- division


def divsi(x: Array, y: Array) -> Array:
    """The quotient, truncated toward zero: -7 divided by 2 is -3.

    Division by zero may return any integer, but must not raise an error. The least integer divided by -1 wraps around
    to itself.
    """
    # [task 6.12] NumPy's `-7 // 2` is -4. For 64-bit integers, 2**63 - 1 divided by -2 is -(2**62 - 1).
    quotient = x // y
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))
    # [end]


def remsi(x: Array, y: Array) -> Array:
    """The remainder of `divsi`, with the sign of `x`: -7 divided by 2 leaves -1."""
    # [task 6.12] NumPy's `-7 % 2` is 1.
    return np.fmod(x, y)
    # [end]


def divui(x: Array, y: Array) -> Array:
    """The quotient of unsigned integers. (Given.)"""
    return of_unsigned(np.floor_divide, x, y)


def remui(x: Array, y: Array) -> Array:
    """The remainder of `divui`. (Given.)"""
    return of_unsigned(np.remainder, x, y)


def ceildivsi(x: Array, y: Array) -> Array:
    """The quotient, rounded up. (Given.)"""
    return x // y + (np.fmod(x, y) != 0)


# --- shifts


def shli(x: Array, y: Array) -> Array:
    """`x` shifted left by `y` bits, filled with zeros. If `y` is at least the width, the result is 0. (Given.)

    In all shifts of this file, `y` is read as unsigned, so -1 is a large number. NumPy's shifts, unlike those of C, are
    defined for any `y`.
    """
    return np.left_shift(x, y)


def shrsi(x: Array, y: Array) -> Array:
    """Arithmetic right shift of `x` by `y` bits: the vacated bits are copies of the sign bit.

    If `y` is at least the width of `x`, the result is -1 for a negative `x`, and 0 otherwise. (Given.)
    """
    return np.right_shift(x, y)


def shrui(x: Array, y: Array) -> Array:
    """`x` shifted right by `y` bits, filled with zeros. If `y` is at least the width, the result is 0. (Given.)"""
    return of_unsigned(np.right_shift, x, y)


# --- others


def maxui(x: Array, y: Array) -> Array:
    """The maximum of two unsigned integers. (Given.)"""
    return of_unsigned(np.maximum, x, y)


def minui(x: Array, y: Array) -> Array:
    """The minimum of two unsigned integers. (Given.)"""
    return of_unsigned(np.minimum, x, y)


def mulhiui(x: Array, y: Array) -> Array:
    """The upper half of the product of two unsigned integers, of 32 or 64 bits."""
    return of_unsigned(upper_half, x, y)


def upper_half(x: Array, y: Array) -> Array:
    """The upper half of the product of two `uint32`, or of two `uint64`, in their dtype."""
    # [task 6.12] As `uint32`, 2**31 and 4 give 2. As `uint64`, 2**63 and 6 give 3, and 2**64 - 1 squared gives
    # 2**64 - 2; NumPy has no integers of 128 bits.
    if x.dtype == np.uint32:
        return (x.astype(np.uint64) * y >> 32).astype(np.uint32)
    x_high, x_low, y_high, y_low = x >> 32, x & 0xFFFFFFFF, y >> 32, y & 0xFFFFFFFF
    middle = x_high * y_low + (x_low * y_low >> 32)
    carry = x_low * y_high + (middle & 0xFFFFFFFF)
    return x_high * y_high + (middle >> 32) + (carry >> 32)
    # [end]
