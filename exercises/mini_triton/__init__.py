"""A compiler for kernels written in Triton's language. `import mini_triton as triton` is enough for most of them.

The names below are loaded when they are first used, so that the early modules can be imported without the later ones.
"""

from __future__ import annotations

import importlib
from typing import Any

EXPORTS = {
    "language": "mini_triton.language",
    "jit": "mini_triton.frontend.function",
    "constexpr_function": "mini_triton.frontend.function",
    "JITFunction": "mini_triton.frontend.function",
    "cdiv": "mini_triton.frontend.sizes",
    "next_power_of_2": "mini_triton.frontend.sizes",
}


def __getattr__(name: str) -> Any:
    if name not in EXPORTS:
        raise AttributeError(f"mini_triton has no {name}")
    module = importlib.import_module(EXPORTS[name])
    return module if name == EXPORTS[name].rpartition(".")[2] else getattr(module, name)
