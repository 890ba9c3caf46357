"""The language that kernels are written in, `import mini_triton.language as tl`.

Its functions take Python values and tensors, as in a kernel: `tl.load(p + offsets, mask) * 2`. They return tensors,
which are IR values with a dtype, and build operations with the current builder. Only this package handles promotion and
signedness: the front end calls operators and functions, and the IR is signless.

The files with tasks, in reading order (`dtypes.py` belongs to milestone 1):

    tensor.py       one dtype and shape for both operands (4.1); pointers, bits, comparisons (4.2); the class `tensor`
    shape.py        indices, new dimensions, reshape, transpose, join and split (4.3)
    constexpr.py    values known at compile time (4.4)
    memory.py       load and store (4.5), and `casts.py`: explicit casts (4.5)
    creation.py     program ids, ranges, constants (4.6)
    math.py         functions of floats, minimum and maximum, where (4.7)
    reduction.py    one operation for all reductions (4.8), and `scan.py`: running reductions (4.8)
    dot.py          matrix products (4.9), and `atomics.py` (4.9)
    random.py       random numbers without a state (4.10)

Given and worth reading: `context.py` (the current builder, `@builtin`), and in `toolbox/` `tracing.py` (running a
kernel once) and `signature.py` (how a launch spells types).

Names are loaded on first use, so the dtypes of milestone 1 do not need the later modules.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from mini_triton.compat.missing import explain_missing

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
    "tensor_descriptor",
    "math",
    "dot",
    "scaled",
    "inline_asm",
    "reduction",
    "scan",
    "standard",
    "sorting",
    "random",
    "hints",
    "ranges",
    "core",
)
"""The modules, in import order. The names in each module's `__all__` are part of the language."""

SUBMODULES = {
    **{name: name for name in ("math", "random", "extra")},
    **{"core": "core", "standard": "standard", "target_info": "target_info"},
    "libdevice": "extra.libdevice",
}
"""Modules that kernels may name, and their paths: `tl.math.exp2`, `tl.extra.libdevice.tanh`."""


class Language(ModuleType):
    """The package itself, except that importing one of its modules does not create an attribute.

    Otherwise, `tl.tensor` would be the class or the module `tensor.py`, depending on earlier imports.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


importlib.import_module(__name__).__class__ = Language


def _modules() -> Iterator[ModuleType]:
    """The modules of the language, imported one by one."""
    return (importlib.import_module(f"{__name__}.{module}") for module in MODULES)


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return importlib.import_module(f"{__name__}.{SUBMODULES[name]}")
    if not name.startswith("_"):
        for module in _modules():
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(explain_missing("tl", name, __dir__()))


def __dir__() -> list[str]:
    return sorted(name for module in _modules() for name in module.__all__)
