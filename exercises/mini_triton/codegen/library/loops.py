"""How often loops go round. (Given.)"""

from __future__ import annotations

import numpy as np

from mini_triton.codegen.library.lazy import Array, stored


def trips(lower: Array, upper: Array, step: Array) -> np.ndarray:
    """The length of `range(lower, upper, step)`, where the step is positive, even if the last step would wrap around.

    A difference of integers that wraps around is right when it is read without a sign.
    """
    lower, upper, step = np.broadcast_arrays(stored(lower), stored(upper), stored(step))
    unsigned = f"u{lower.itemsize}"
    distance = (upper - lower).view(unsigned)
    return np.where(lower < upper, (distance - 1) // step.view(unsigned) + 1, 0)
