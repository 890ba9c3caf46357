"""Arithmetic exactly as the IR means it, on NumPy scalars and arrays of any shapes that fit each other. (Given.)

NumPy agrees with the IR where nothing is listed here: integers wrap around, floats are rounded to nearest even.

NumPy warns of overflow, division by zero and NaN. The caller turns that off, once for a whole
kernel: `np.errstate(all="ignore")`.
"""

from mini_triton.exact.casts import *  # noqa: F403
from mini_triton.exact.floats import *  # noqa: F403
from mini_triton.exact.integers import *  # noqa: F403
from mini_triton.exact.libdevice import extern as extern
from mini_triton.exact.scaled import scaled as scaled
