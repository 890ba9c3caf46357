"""Stand-ins for the compiled parts of hypothesis, which exist for no browser: the neighbors and bits of floats.

The tests compare each of these functions with hypothesis's own.
"""

from __future__ import annotations

import math
import struct

_FORMATS = {16: ("!e", "!H"), 32: ("!f", "!I"), 64: ("!d", "!Q")}
_SMALLEST_NORMALS = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}


def float_to_int(value: float, width: int = 64) -> int:
    """The bits of a float as an integer."""
    as_float, as_integer = _FORMATS[width]
    number: int = struct.unpack(as_integer, struct.pack(as_float, value))[0]
    return number


def int_to_float(value: int, width: int = 64) -> float:
    """The float with these bits."""
    as_float, as_integer = _FORMATS[width]
    number: float = struct.unpack(as_float, struct.pack(as_integer, value))[0]
    return number


def float_of(x: float, width: int) -> float:
    """The closest float of this width. Raises `OverflowError` if there is none."""
    return int_to_float(float_to_int(float(x), width), width)


def is_negative(x: float) -> bool:
    """Whether the sign bit is set, as in -0.0."""
    if not isinstance(x, int | float):
        raise TypeError(f"Expected float but got {x!r} of type {type(x).__name__}")
    return math.copysign(1.0, x) < 0


def count_between_floats(x: float, y: float, width: int = 64) -> int:
    """The number of floats from x to y, both included."""
    assert x <= y
    if is_negative(x) and is_negative(y):
        return float_to_int(x, width) - float_to_int(y, width) + 1
    if is_negative(x):
        return count_between_floats(x, -0.0, width) + count_between_floats(0.0, y, width)
    return float_to_int(y, width) - float_to_int(x, width) + 1


def next_up(value: float, width: int = 64) -> float:
    """The smallest float above a finite value; NaN and infinity are their own successors."""
    if math.isnan(value) or value == math.inf:
        return value
    if value == 0.0 and is_negative(value):
        return 0.0
    bits = float_to_int(value, width)
    return int_to_float(bits - 1 if is_negative(value) else bits + 1, width)


def next_down(value: float, width: int = 64) -> float:
    """The largest float below a finite value."""
    return -next_up(-value, width)


def next_up_normal(value: float, width: int, *, allow_subnormal: bool) -> float:
    """The next float above, without subnormal floats unless they are allowed."""
    number = next_up(value, width)
    smallest = width_smallest_normals(width)
    if not allow_subnormal and 0 < abs(number) < smallest:
        return -0.0 if number < 0 else smallest
    return number


def next_down_normal(value: float, width: int, *, allow_subnormal: bool) -> float:
    """The next float below, without subnormal floats unless they are allowed."""
    return -next_up_normal(-value, width, allow_subnormal=allow_subnormal)


def width_smallest_normals(width: int) -> float:
    """The smallest positive float that is not subnormal."""
    return _SMALLEST_NORMALS[width]


def cathetus(h: float, a: float) -> float:
    """The other side of a right triangle with this hypotenuse and side."""
    if math.isnan(h):
        return math.nan
    if math.isinf(h):
        return math.nan if math.isinf(a) else math.inf
    h, a = abs(h), abs(a)
    if not h >= a:
        return math.nan
    return math.sqrt(h - a) * math.sqrt(h / 2 + a / 2) * math.sqrt(2.0)  # the sum of two halves does not overflow
