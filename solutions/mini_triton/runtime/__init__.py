"""The runtime: from a launch in Python to a kernel that runs.

In: a Python function, arguments, a grid, options: `kernel[grid](x, y, n, BLOCK=64, num_warps=8)`. Out: the kernel has
run on the arguments' memory, and its caller gets the compiled kernel. The runtime calls the front end (source to
module), the back end for CPUs (module to NumPy), and for GPUs `backends/`.

Yours, in reading order, with their tasks:

    binding.py          which argument goes to which parameter (7.1)
    specialization.py   what a kernel is compiled for: types, constants, multiples of 16 (7.2)
    keys.py             what a compiled kernel depends on (7.3)
    cache.py            compiled kernels on disk (7.4)
    pipeline.py         the list of stages, and running them (7.5); `inspection.py` prints and dumps their texts (7.5)
    grids.py            how many programs (7.7)
    checks.py           launches that cannot work, and accesses out of bounds, in the user's words (7.8)
    compiled_kernel.py  a compiled kernel: found or made (7.6), and run (7.9)
    jit.py              `@jit` and `kernel[grid](...)`: the search in memory (7.6), the launch (7.9)

Given and worth reading: `arguments.py` (what is an array, what is a tensor), `options.py` (what a launch may say beside
its arguments). To skip: `given/` (quick launches on a GPU, memory reached by addresses).
"""

from __future__ import annotations

import importlib
from typing import Any

EXPORTS = {
    **dict.fromkeys(("JITFunction", "KernelInterface", "TensorWrapper", "reinterpret"), "jit"),
    **dict.fromkeys(("Autotuner", "Config", "Heuristics", "autotune", "heuristics"), "autotuner"),
    **{"MockTensor": "arguments", "OutOfResources": "errors", "driver": "driver", "autotuner": "autotuner"},
}
"""The names that programs import from here, and their modules."""


def __getattr__(name: str) -> Any:
    if name not in EXPORTS:
        raise AttributeError(f"mini_triton.runtime has no {name}")
    module = importlib.import_module(f"{__name__}.{EXPORTS[name]}")
    return getattr(module, name, module)
