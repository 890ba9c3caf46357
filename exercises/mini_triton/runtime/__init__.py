"""The runtime: from a launch in Python to a kernel that runs.

It takes a Python function, arguments, a grid and options: `kernel[grid](x, y, n, BLOCK=64, num_warps=8)`. It runs the
kernel on the arguments' memory, and returns the compiled kernel. The runtime calls the front end (source to module),
the back end for CPUs (module to NumPy), and `backends/` for GPUs.

Your files, in reading order, with their tasks:

    binding.py          binds arguments to parameters (7.1)
    specialization.py   the facts for which a kernel is compiled: types, constants, multiples of 16 (7.2)
    keys.py             everything on which a compiled kernel depends (7.3)
    cache.py            compiled kernels on disk (7.4)
    pipeline.py         the list of stages, and how to run it (7.5); `inspection.py` prints and dumps stages (7.5)
    grids.py            the number of programs (7.7)
    checks.py           errors for invalid launches and out-of-bounds accesses, in the user's terms (7.8)
    compiled_kernel.py  finds or makes a compiled kernel (7.6), and runs it (7.9)
    jit.py              `@jit` and `kernel[grid](...)`: the lookup in memory (7.6), the launch (7.9)

Also read the given `options.py` (launch options), and in `toolbox/` `arguments.py` (recognizes arrays and tensors).
"""

from __future__ import annotations

import importlib
from typing import Any

EXPORTS = {
    **dict.fromkeys(("JITFunction", "KernelInterface", "TensorWrapper", "reinterpret"), "jit"),
    **dict.fromkeys(("Autotuner", "Config", "Heuristics", "autotune", "heuristics"), "autotuner"),
    **{"MockTensor": "arguments", "OutOfResources": "errors", "driver": "driver", "autotuner": "autotuner"},
}
"""The names that programs import from this package, and their modules."""


def __getattr__(name: str) -> Any:
    if name not in EXPORTS:
        raise AttributeError(f"mini_triton.runtime has no {name}")
    module = importlib.import_module(f"{__name__}.{EXPORTS[name]}")
    return getattr(module, name, module)
