"""The language that kernels are written in, `import mini_triton.language as tl`.

Its names are loaded when they are first used: the dtypes of milestone 1 need none of the later modules.
"""

from __future__ import annotations

import importlib
from typing import Any

MODULES = (
    "dtypes",
    "constexpr",
    "context",
    "tensor",
    "creation",
    "shape",
    "memory",
    "block_pointer",
    "atomics",
    "math",
    "dot",
    "reduction",
    "scan",
    "standard",
    "random",
    "hints",
    "ranges",
)
"""In the order in which they import one another. Each one's `__all__` is part of the language."""


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for module in (importlib.import_module(f"{__name__}.{module}") for module in MODULES):
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"tl has no {name}: mini_triton does not support it, or Triton does not have it")


def __dir__() -> list[str]:
    modules = [importlib.import_module(f"{__name__}.{module}") for module in MODULES]
    return sorted(name for module in modules for name in module.__all__)
