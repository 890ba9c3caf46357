"""Functions decorated with real Triton's `@jit`, such as a library's helpers.

Kernels can call these functions, which are compiled from source. Objects of real Triton are replaced by ours; for
example, its `tl.load` is replaced by our `tl.load`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from mini_triton.frontend.function import ConstexprFunction, KernelSource
from mini_triton.language.constexpr import constexpr
from mini_triton.language.dtypes import DTYPES


def translate(value: Any) -> Any:
    """Our counterpart of a module, a function, a dtype or a compile-time value of real Triton."""
    if isinstance(value, ModuleType):
        return importlib.import_module(f"mini_{value.__name__}") if _is_tritons(value.__name__) else value
    if _is_tritons(type(value).__module__):
        if type(value).__name__ == "constexpr":
            return constexpr(translate(value.value))
        return DTYPES.get(str(value), value)
    module = getattr(value, "__module__", None) or ""
    if _is_tritons(module):
        home = "extra.libdevice" if module.endswith("libdevice") else ""
        return getattr(importlib.import_module(f"mini_triton.language.{home}".rstrip(".")), value.__name__, value)
    return value


def _is_tritons(module: str) -> bool:
    return module.partition(".")[0] == "triton"


class AdoptedNames(Mapping[str, Any]):
    """The names that a real Triton function sees, with our counterparts in place of Triton's objects."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names

    def __getitem__(self, name: str) -> Any:
        return translate(self.names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class AdoptedSource(KernelSource):
    """A function decorated with real Triton's `@jit`, compiled from its source."""

    @property
    def globals(self) -> Mapping[str, Any]:
        return AdoptedNames(super().globals)


_adopted: dict[int, KernelSource | ConstexprFunction] = {}


def adopt(value: Any) -> Any:
    """Convert a function of real Triton, or one decorated with its `@jit` or `@constexpr_function`, to ours.

    Anything else is returned unchanged. Libraries look up functions by name, as in
    `importlib.import_module("triton.language.extra.libdevice").pow`, and let their kernels call them.
    """
    if isinstance(value, FunctionType):
        return translate(value)
    if not type(value).__module__.startswith("triton.runtime.") or not hasattr(value, "fn"):
        return value
    if id(value) not in _adopted:
        is_plain = type(value).__name__ == "ConstexprFunction"
        _adopted[id(value)] = ConstexprFunction(value.fn) if is_plain else AdoptedSource(value.fn)
    return _adopted[id(value)]
