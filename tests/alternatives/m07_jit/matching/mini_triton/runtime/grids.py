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

    def index(size: Any, limit: int) -> int:
        try:
            number = operator.index(size)
        except TypeError as error:
            raise TypeError(f"{kernel}: {size!r} is no number of programs") from error
        match number:
            case _ if number in range(limit + 1):
                return number
            case _:
                raise ValueError(f"{kernel}: {number} programs, {limit} at most")

    match grid(values) if callable(grid) else grid:
        case tuple() | list() as sizes:
            pass
        case other:
            raise TypeError(f"{kernel}: {other!r} is no tuple")
    match [*sizes]:
        case [x]:
            return index(x, LIMITS[0]), 1, 1
        case [x, y]:
            return index(x, LIMITS[0]), index(y, LIMITS[1]), 1
        case [x, y, z]:
            return index(x, LIMITS[0]), index(y, LIMITS[1]), index(z, LIMITS[2])
        case _:
            raise ValueError(f"{kernel}: {len(sizes)} axes")
