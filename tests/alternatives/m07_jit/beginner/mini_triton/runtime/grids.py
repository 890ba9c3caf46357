"""How many programs a launch runs: one to three axes.

Source: `JITFunction.run` in Triton's `python/triton/runtime/jit.py`; the limits are CUDA's.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

LIMITS = (2**31 - 1, 2**16 - 1, 2**16 - 1)
"""How many programs a GPU allows along each axis."""


def grid_of(kernel: str, grid: Any, values: Mapping[str, Any]) -> tuple[int, int, int]:
    """The number of programs along each of the three axes; those that `grid` does not mention have 1.

    `grid` is a tuple or a list of one to three integers, or a function that makes such of the launch's arguments, a
    dictionary by parameter name. 0 is allowed: then nothing runs. Raises, with the kernel's name and the size that is
    wrong, `TypeError` for what is no tuple of integers, and `ValueError` for integers that do not do.
    """
    if callable(grid):
        grid = grid(values)
    if not isinstance(grid, tuple) and not isinstance(grid, list):
        raise TypeError(f"{kernel}: a grid is a tuple like (4,), and not {grid!r}")
    if len(grid) == 0 or len(grid) > 3:
        raise ValueError(f"{kernel}: a grid has 1, 2 or 3 axes, and not {len(grid)}")
    sizes = [1, 1, 1]
    for axis in range(len(grid)):
        try:
            sizes[axis] = operator.index(grid[axis])
        except TypeError:
            raise TypeError(f"{kernel}: {grid[axis]!r} is no int") from None
        if sizes[axis] < 0:
            raise ValueError(f"{kernel}: {sizes[axis]} is negative")
        if sizes[axis] > LIMITS[axis]:
            raise ValueError(f"{kernel}: {sizes[axis]} programs are too many for axis {axis}")
    return sizes[0], sizes[1], sizes[2]
