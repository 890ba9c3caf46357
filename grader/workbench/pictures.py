"""For the milestones' last screens: pictures in text, and a kernel that draws one."""

from __future__ import annotations

from typing import Any

SHADES = " ·:-=+*#%@"
MANDELBROT = """row = tl.program_id(0)
x = 2.8 * tl.arange(0, WIDTH) / WIDTH - 2.1
y = 2.4 * row / height - 1.2
re = tl.zeros((WIDTH,), tl.float32)
im = tl.zeros((WIDTH,), tl.float32)
steps = tl.zeros((WIDTH,), tl.int32)
k = 0
near = 1
while (k < limit) & (near > 0):
    inside = re * re + im * im < 4.0
    re, im = tl.where(inside, re * re - im * im + x, re), tl.where(inside, 2.0 * re * im + y, im)
    steps += inside.to(tl.int32)
    near = tl.sum(inside.to(tl.int32))
    k += 1
tl.store(out + row * WIDTH + tl.arange(0, WIDTH), steps)"""
"""The body of a kernel that writes the Mandelbrot set to the int32 array `out`: a program for each row."""


def shades(array: Any) -> str:
    """A matrix as a picture: a character for each element, the darker the larger its rank."""
    import numpy as np

    ranks = np.searchsorted(np.unique(array), array)
    levels = ranks * (len(SHADES) - 1) // max(int(ranks.max()), 1)
    return "\n".join("".join(SHADES[level] for level in row).rstrip() for row in levels)
