"""The number of programs in a launch, along one to three axes.

Source: `JITFunction.run` in Triton's `python/triton/runtime/jit.py`; the limits are CUDA's.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

LIMITS = (2**31 - 1, 2**16 - 1, 2**16 - 1)
"""The largest number of programs along each axis on a GPU."""


def grid_of(kernel: str, grid: Any, values: Mapping[str, Any]) -> tuple[int, int, int]:
    """The number of programs along each of the three axes; 1 for an axis that `grid` omits.

    `grid` is a tuple or list of one to three integers, or a function that returns such a tuple or list. The function
    takes the launch's arguments, as a dictionary keyed by parameter name. A size of 0 is valid: the
    generated code then runs no program. Raises `TypeError` if `grid`, or what it returns, is not a tuple or list of
    integers, and `ValueError` for a wrong number of axes and for sizes out of range. Messages name the kernel and the
    size at fault.
    """
    # [task 7.7] For (4, np.int64(2)), return (4, 2, 1); for `lambda values: (values["n"] // 64,)` with n = 640, return
    # (10, 1, 1). The float 4.0 is not an integer. As in real Triton, 5 alone is not a grid. Given: `LIMITS`.
    if callable(grid):
        grid = grid(values)
    if not isinstance(grid, tuple | list):
        advice = f": write ({grid},)" if isinstance(grid, int) else ""
        raise TypeError(f"the grid of {kernel} is {grid!r}, not a tuple{advice}")
    if not 1 <= len(grid) <= len(LIMITS):
        raise ValueError(f"the grid of {kernel} has {len(grid)} axes: {grid}; it can have 1, 2 or 3")
    sizes = []
    for axis, (size, limit) in enumerate(zip(grid, LIMITS, strict=False)):
        try:
            count = operator.index(size)
        except TypeError:
            raise TypeError(f"axis {axis} of the grid of {kernel} is {size!r}, not an integer") from None
        if not 0 <= count <= limit:
            raise ValueError(f"the grid of {kernel} has {count} programs on axis {axis}; 0 to {limit} are possible")
        sizes.append(count)
    x, y, z = *sizes, *[1] * (len(LIMITS) - len(sizes))
    return x, y, z
    # [end]
