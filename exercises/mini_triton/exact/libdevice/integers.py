"""Functions of integers in NVIDIA's device library, and those that look at bits. (Given.)

Source: NVIDIA's libdevice user's guide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mini_triton.exact.integers import mulhiui, unsigned

Array = Any
"""A NumPy array, or a NumPy scalar."""


def _leading_zeros(x: Array) -> Array:
    x, width = unsigned(x), 8 * x.dtype.itemsize
    for shift in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        x = x | x >> shift
    return width - np.bitwise_count(x).astype(np.int32)


def _first_set(x: Array) -> Array:
    """The place of the lowest bit that is set, counted from 1; 0 if none is."""
    x = unsigned(x)
    below = (x & -x) - np.ones_like(x)
    return np.where(x == 0, 0, np.bitwise_count(below) + 1).astype(np.int32)


def _reversed(x: Array) -> Array:
    bits, width = unsigned(x), 8 * x.dtype.itemsize
    result = np.zeros_like(bits)
    for place in range(width):
        result = result << 1 | bits >> place & 1
    return result.view(x.dtype)


def _permuted_bytes(x: Array, y: Array, selector: Array) -> Array:
    both = unsigned(y).astype(np.uint64) << 32 | unsigned(x)
    result = np.uint64(0)
    for place in range(4):
        chosen = unsigned(selector) >> 4 * place & 7
        result = result | (both >> (8 * chosen).astype(np.uint64) & 255) << 8 * place
    return result.astype(np.uint32).view(np.int32)


def _signed_upper_half(x: Array, y: Array) -> Array:
    """Of a negative number, read without a sign, the product is too large by the other one."""
    return mulhiui(x, y) - np.where(x < 0, y, x.dtype.type(0)) - np.where(y < 0, x, x.dtype.type(0))


def _wide(function: Callable[..., Array], signed: bool) -> Callable[..., Array]:
    """A function of `int32`, computed in 64 bits."""

    def narrow(*operands: Array) -> Array:
        read = operands if signed else map(unsigned, operands)
        return function(*(np.asarray(x).astype(np.int64) for x in read)).astype(np.int32)

    return narrow


def _both(name: str, unsigned_name: str, function: Callable[..., Array]) -> dict[str, Callable[..., Array]]:
    return {name: _wide(function, True), unsigned_name: _wide(function, False)}


def _24(x: Array) -> Array:
    """The lower 24 bits of a number in 64, with their sign."""
    return (x << 40) >> 40


FUNCTIONS: dict[str, Callable[..., Array]] = {
    **dict.fromkeys(("abs", "llabs"), np.abs),
    **dict.fromkeys(("clz", "clzll"), _leading_zeros),
    **dict.fromkeys(("popc", "popcll"), lambda x: np.bitwise_count(unsigned(x)).astype(np.int32)),
    **dict.fromkeys(("ffs", "ffsll"), _first_set),
    **dict.fromkeys(("brev", "brevll"), _reversed),
    **dict.fromkeys(("umulhi", "umul64hi"), mulhiui),
    **dict.fromkeys(("mulhi", "mul64hi"), _signed_upper_half),
    "byte_perm": _permuted_bytes,
    "mul24": _wide(lambda x, y: _24(x) * _24(y), True),
    "umul24": _wide(lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF), False),
    **_both("hadd", "uhadd", lambda x, y: x + y >> 1),
    **_both("rhadd", "urhadd", lambda x, y: x + y + 1 >> 1),
    **_both("sad", "usad", lambda x, y, z: np.abs(x - y) + z),
    **dict.fromkeys(("int_as_float", "uint_as_float"), lambda x: np.asarray(x).view(np.float32)),
    **dict.fromkeys(("float_as_int", "float_as_uint"), lambda x: np.asarray(x).view(np.int32)),
    "longlong_as_double": lambda x: np.asarray(x).view(np.float64),
    "double_as_longlong": lambda x: np.asarray(x).view(np.int64),
}
