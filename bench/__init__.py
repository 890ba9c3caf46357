"""How fast the course's compiler is beside others: `nox -s bench`.

Everyone computes on one thread, unless OMP_NUM_THREADS says otherwise: NumPy's and PyTorch's libraries read it when
they are imported, and on a machine that does other things as well one thread gives the same times again.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "solutions")) if path not in sys.path]
os.environ.setdefault("OMP_NUM_THREADS", "1")
