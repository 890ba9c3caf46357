"""Whether Numba simulates a GPU in this process. Import this module before `numba.cuda`. (Given.)

Numba does so on a machine without a GPU driver, or if `NUMBA_ENABLE_CUDASIM=1` is set.
"""

from __future__ import annotations

import os

import numpy as np
from numba.core import config

from mini_triton.codegen.cuda_gen.driver import is_here

if "NUMBA_ENABLE_CUDASIM" not in os.environ and not is_here():
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba.cuda is imported
    config.ENABLE_CUDASIM = 1
SIMULATED = bool(config.ENABLE_CUDASIM)

# NumPy 2.5 dropped this name, but numba-cuda 0.30 uses it; some of its modules do so only while a kernel is compiled.
vars(np).setdefault("row_stack", np.vstack)
