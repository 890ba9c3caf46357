"""Whether Numba simulates a GPU in this process: and the import of `numba.cuda`. (Given.)

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

with_rows = hasattr(np, "row_stack")
if not with_rows:  # NumPy 2.5 has dropped this name; numba-cuda 0.30 still asks for it, when it is imported
    np.row_stack = np.vstack  # type: ignore[attr-defined]
import numba.cuda  # noqa: E402, F401

if not with_rows:
    del np.row_stack  # type: ignore[attr-defined]
