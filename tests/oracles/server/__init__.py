"""The process of real Triton, `python -m tests.oracles.server`. A request names a function of one of these modules.

`frontend` parses and compiles modules; `written` compiles Python texts; `probes` answers the questions of
`records/*.json`; `launches` runs kernels, on a GPU or by the interpreter; `hosts` calls the course's host functions;
`threads` records which thread of a GPU holds which element; `ahead` compiles ahead of time; `assembling` runs NVIDIA's
assembler; `tuning` measures and tunes toy kernels. No test may import these modules, because they import Triton.
"""

import os
import sys


def said() -> str:
    """The first lines of the errors that C++ reported, which may contain whole modules."""
    sys.stderr.flush()
    text = os.pread(2, 1 << 16, 0).decode(errors="replace")
    return "\n".join(list(dict.fromkeys(line for line in text.splitlines() if "error:" in line))[:5])
