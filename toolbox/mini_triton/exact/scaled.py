"""Numbers in the microscaling formats: small floats, and for each group of floats a power of two. (Given.)

Source: the OCP specification "Microscaling Formats (MX)", version 1.0, 5.3 (elements) and 5.4 (scales).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
"""A NumPy array."""

SIZES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
E2M1 = np.concatenate((SIZES, -SIZES))
"""The numbers for all four-bit patterns: one sign bit, two exponent bits, one mantissa bit."""
E8M0 = np.append(np.exp2(np.arange(-127.0, 128)), np.nan).astype(np.float32)
"""The powers of two, and the NaN, for all bytes."""


def scaled(x: Array, scales: Array | None, format: str, along: int, packed: int) -> Array:
    """A matrix, or a stack of matrices, as `float32`. Each group of numbers is multiplied by its scale.

    Axes are negative. A group of numbers along the axis `along` shares a scale, and two numbers along the axis `packed`
    share a byte. The last axis of `scales` counts the groups, whatever `along` is.
    """
    if format == "e2m1":
        pairs = np.stack((x & 0xF, x >> 4 & 0xF), axis=-1)
        x = E2M1[np.moveaxis(pairs, -1, packed).reshape(_doubled(x.shape, packed))]
    x = x.astype(np.float32)
    if scales is None:
        return x
    powers = E8M0[scales.view(np.uint8)] if scales.dtype == np.int8 else scales.astype(np.float32)
    powers = np.repeat(powers, x.shape[along] // scales.shape[-1], axis=-1)
    return x * (powers if along == -1 else np.swapaxes(powers, -1, -2))


def _doubled(shape: tuple[int, ...], axis: int) -> list[int]:
    sizes = list(shape)
    sizes[axis] *= 2
    return sizes
