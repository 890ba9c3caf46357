"""Whether Numba simulates a GPU in this process; imported before `numba.cuda`. (Given.)

It does where there is no driver for a GPU, or where `NUMBA_ENABLE_CUDASIM=1` asks for it.
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

# NumPy 2.5 dropped this name. numba-cuda 0.30 asks for it, some of its modules only when a kernel is compiled.
vars(np).setdefault("row_stack", np.vstack)
