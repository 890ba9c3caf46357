"""A compiler for kernels written in Triton's language. `import mini_triton as triton` is enough for most of them.

The names below are loaded when they are first used, so that the early modules can be imported without the later ones.
"""

from __future__ import annotations

import importlib
from typing import Any

MODULES = ("language", "testing")

EXPORTS = {
    "jit": "mini_triton.runtime.jit",
    "JITFunction": "mini_triton.runtime.jit",
    "reachable": "mini_triton.runtime.given.reach",
    "constexpr_function": "mini_triton.frontend.function",
    "cdiv": "mini_triton.frontend.function",
    "next_power_of_2": "mini_triton.frontend.function",
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"mini_triton.{name}")
    if name in EXPORTS:
        return getattr(importlib.import_module(EXPORTS[name]), name)
    raise AttributeError(f"mini_triton has no {name}")
