"""The language that kernels are written in, `import mini_triton.language as tl`.

Its names are loaded when they are first used: the dtypes of milestone 1 need none of the later modules.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

MODULES = (
    "dtypes",
    "constexpr",
    "context",
    "tensor",
    "casts",
    "creation",
    "shape",
    "block_pointer",
    "memory",
    "atomics",
    "math",
    "dot",
    "reduction",
    "scan",
    "standard",
    "sorting",
    "random",
    "hints",
    "ranges",
)
"""In the order in which they import one another. Each one's `__all__` is part of the language."""

SUBMODULES = ("math", "random", "extra")
"""Modules that kernels may name: `tl.math.exp2`, `tl.extra.libdevice.tanh`."""


class Language(ModuleType):
    """The package itself, but importing one of its modules makes no attribute of it.

    Otherwise `tl.tensor` were the class or the module `tensor.py`, depending on what was imported before.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = Language


def _modules() -> Iterator[ModuleType]:
    """The modules of the language, each imported when it is its turn."""
    return (importlib.import_module(f"{__name__}.{module}") for module in MODULES)


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if not name.startswith("_"):
        for module in _modules():
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"tl has no {name}: mini_triton does not support it, or Triton does not have it")


def __dir__() -> list[str]:
    return sorted(name for module in _modules() for name in module.__all__)
