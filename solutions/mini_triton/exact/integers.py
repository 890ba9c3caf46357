"""Integers: they have no sign of their own, the operation says whether it reads one.

Arrays of the IR's integers are signed ones. `unsigned` reads the same bits without a sign.

Source: MLIR's `ArithOps.td`. Where it leaves a result open, as for a shift by too much, a GPU's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
"""A NumPy array, or a NumPy scalar."""


def unsigned(x: Array) -> Array:
    """The same bits as an unsigned integer: -1 in `int8` is 255 in `uint8`, and so is NaN in an fp8.

    A boolean is 0 or 1, in `uint8`.
    """
    # [task 6.12] No arithmetic: an array can be viewed as another dtype. `np.asarray` makes an array of a scalar.
    x = np.asarray(x)
    return x.view(f"u{x.itemsize}")
    # [end]


def of_unsigned(function: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
    """What a function makes of two numbers without signs, as the IR's signless integer. (Given.)"""
    result = function(unsigned(x), unsigned(y))
    return result.view(f"i{result.itemsize}")


# --- division


def divsi(x: Array, y: Array) -> Array:
    """The quotient, truncated toward zero: -7 by 2 is -3. What division by zero gives is open, but it gives something.

    The least integer divided by -1 wraps around to itself.
    """
    # [task 6.12] NumPy's `//` rounds down: that is one too low where the signs differ and something remains. Correct
    # it there. A float would not do, for it has too few digits for 64 bits.
    quotient = x // y
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))
    # [end]


def remsi(x: Array, y: Array) -> Array:
    """What remains of `divsi`; its sign is that of `x`: -7 by 2 leaves -1."""
    # [task 6.12] NumPy has two remainders. `%` goes with `//`; this one is C's.
    return np.fmod(x, y)
    # [end]


def divui(x: Array, y: Array) -> Array:
    """The quotient of numbers without signs. (Given.)"""
    return of_unsigned(np.floor_divide, x, y)


def remui(x: Array, y: Array) -> Array:
    """What remains of `divui`. (Given.)"""
    return of_unsigned(np.remainder, x, y)


def ceildivsi(x: Array, y: Array) -> Array:
    """The quotient, rounded up. (Given.)"""
    return x // y + (np.fmod(x, y) != 0)


# --- shifts


def shli(x: Array, y: Array) -> Array:
    """`x` shifted left by `y` bits, where zeros come in. All bits are gone when `y` is the width or more."""
    # [task 6.12] As for all shifts here `y` has no sign, so that -1 is a lot. A PC shifts 32-bit integers by `y % 32`,
    # a GPU does not. Try what NumPy does.
    return np.left_shift(x, y)
    # [end]


def shrsi(x: Array, y: Array) -> Array:
    """`x` shifted right by `y` bits, where copies of the sign come in: in the end all bits are the sign."""
    # [task 6.12] See `shli`.
    return np.right_shift(x, y)
    # [end]


def shrui(x: Array, y: Array) -> Array:
    """`x` shifted right by `y` bits, where zeros come in."""
    # [task 6.12] What comes in is up to NumPy's dtype: `of_unsigned`.
    return of_unsigned(np.right_shift, x, y)
    # [end]


# --- others


def maxui(x: Array, y: Array) -> Array:
    """The larger of two numbers without signs. (Given.)"""
    return of_unsigned(np.maximum, x, y)


def minui(x: Array, y: Array) -> Array:
    """The smaller of two numbers without signs. (Given.)"""
    return of_unsigned(np.minimum, x, y)


def mulhiui(x: Array, y: Array) -> Array:
    """The upper half of the product of two numbers without signs, of 32 bits or of 64."""
    return of_unsigned(upper_half, x, y)


def upper_half(x: Array, y: Array) -> Array:
    """The bits of the product of two `uint32`, or of two `uint64`, that do not fit."""
    # [task 6.12] For `uint64` there is `multiplied_on_paper`. The product of two `uint32` has room in 64 bits.
    if x.dtype == np.uint64:
        return multiplied_on_paper(x, y)
    return (x.astype(np.uint64) * y >> 32).astype(np.uint32)
    # [end]


def multiplied_on_paper(x: Array, y: Array) -> Array:
    """`upper_half` of two `uint64`, each of two digits: of 32 bits. (Given.)"""
    x_high, x_low, y_high, y_low = x >> 32, x & 0xFFFFFFFF, y >> 32, y & 0xFFFFFFFF
    middle = x_high * y_low + (x_low * y_low >> 32)
    carry = x_low * y_high + (middle & 0xFFFFFFFF)
    return x_high * y_high + (middle >> 32) + (carry >> 32)
