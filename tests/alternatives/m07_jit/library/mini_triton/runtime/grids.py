"""How many programs a launch runs: one to three axes.

Source: `JITFunction.run` in Triton's `python/triton/runtime/jit.py`; the limits are CUDA's.
"""

from __future__ import annotations

import itertools
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
    sizes = grid(values) if callable(grid) else grid
    if type(sizes) is not list and not isinstance(sizes, tuple):
        raise TypeError(f"{kernel}: {type(sizes)} is no grid: {sizes!r}")
    if len(sizes) not in (1, 2, 3):
        raise ValueError(f"{kernel}: {sizes} has not 1, 2 or 3 axes")
    if wrong := [size for size in sizes if not hasattr(type(size), "__index__")]:
        raise TypeError(f"{kernel}: no ints in the grid: {wrong}")
    x, y, z = itertools.islice(itertools.chain(map(operator.index, sizes), itertools.repeat(1)), 3)
    if wrong := [(n, most) for n, most in zip((x, y, z), LIMITS, strict=True) if min(max(n, 0), most) != n]:
        raise ValueError(f"{kernel}: sizes, and what is possible: {wrong}")
    return x, y, z
