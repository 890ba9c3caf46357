"""Whether Numba simulates a GPU in this process; and the first import of `numba.cuda`. (Given.)

It does where there is no driver for a GPU, or where `NUMBA_ENABLE_CUDASIM=1` asks for it.
"""

from __future__ import annotations

import os
from unittest.mock import patch

import numpy as np
from numba.core import config

from mini_triton.codegen.cuda_gen.driver import is_here

if "NUMBA_ENABLE_CUDASIM" not in os.environ and not is_here():
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # read when numba.cuda is imported
    config.ENABLE_CUDASIM = 1
SIMULATED = bool(config.ENABLE_CUDASIM)

# numba-cuda 0.30 asks for this name when it is imported, and NumPy 2.5 no longer has it.
with patch.object(np, "row_stack", np.vstack, create=True):
    import numba.cuda  # noqa: F401
