"""Arithmetic exactly as the IR defines it, on NumPy scalars and arrays of any compatible shapes.

For operations that this package lacks, NumPy agrees with the IR: integers wrap around, and floats are rounded to
nearest even.

NumPy warns about overflow, division by zero and NaN. The caller disables warnings once for a whole kernel:
`np.errstate(all="ignore")`.
"""

from mini_triton.exact.casts import *  # noqa: F403
from mini_triton.exact.floats import *  # noqa: F403
from mini_triton.exact.integers import *  # noqa: F403
from mini_triton.exact.libdevice import extern as extern
from mini_triton.exact.scaled import scaled as scaled
