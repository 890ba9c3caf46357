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
    # Task 7.7: Sizes are what `operator.index` accepts: NumPy's integers, not 4.0. A bare int is not a grid, in
    # real Triton neither: the message says what to write, `(5,)`. `LIMITS` has the most programs of each axis.
    raise NotImplementedError("Task 7.7: Grids")
