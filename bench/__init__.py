"""How fast the course's compiler is beside others: `nox -s bench`.

Everyone computes on one thread, unless OMP_NUM_THREADS says otherwise: NumPy's and PyTorch's libraries read it when
they are imported. Then times are those of the processor, whatever else the machine does meanwhile. Of several threads
all times would be added up, so these are timed by the clock on the wall.
"""

import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "solutions")) if path not in sys.path]
os.environ.setdefault("OMP_NUM_THREADS", "1")
clock = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter
