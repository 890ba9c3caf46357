"""The language that kernels are written in, `import mini_triton.language as tl`.

In: Python values and tensors, as a kernel writes them: `tl.load(p + offsets, mask) * 2`. Out: tensors, which are IR
values with a dtype, and the operations that the current builder has built for them. Only this package knows about
promotion, broadcasting and signs: the front end above it calls operators and functions, the IR below it has no signs.

Yours, in reading order, with their tasks (`dtypes.py` belongs to milestone 1):

    tensor.py       both operands to one dtype and shape (4.1); pointers, bits, comparisons (4.2); the class `tensor`
    shape.py        indices, new dimensions, reshape, transpose, join and split (4.3)
    constexpr.py    values that the compiler knows (4.4)
    memory.py       load and store (4.5), and `casts.py`: what a kernel converts itself (4.5)
    creation.py     program ids, ranges, constants (4.6)
    math.py         functions of floats, minimum and maximum, where (4.7)
    reduction.py    one operation for all reductions (4.8), and `scan.py` for running ones (4.8)
    dot.py          matrix products (4.9), and `atomics.py` (4.9)
    random.py       random numbers without a state (4.10)

Given and worth reading: `context.py` (the current builder, `@builtin`), `tracing.py` (running a kernel once),
`signature.py` (how a launch spells types). To skip: `given/` (block pointers, tensor descriptors, hints, ranges,
sorting, softmax, microscaling, inline machine code) and `extra/` (libdevice).

Names are loaded when they are first used: the dtypes of milestone 1 need none of the later modules.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from mini_triton.given.missing import explain_missing

MODULES = (
    "dtypes",
    "constexpr",
    "context",
    "tensor",
    "casts",
    "creation",
    "shape",
    "given.block_pointer",
    "memory",
    "atomics",
    "given.tensor_descriptor",
    "math",
    "dot",
    "given.scaled",
    "given.inline_asm",
    "reduction",
    "scan",
    "given.standard",
    "given.sorting",
    "random",
    "given.hints",
    "given.ranges",
    "given.core",
)
"""In the order in which they import one another. Each one's `__all__` is part of the language."""

SUBMODULES = {
    **{name: name for name in ("math", "random", "extra")},
    **{"core": "given.core", "standard": "given.standard", "target_info": "given.target_info"},
    "libdevice": "extra.libdevice",
}
"""Modules that kernels may name, and where they are: `tl.math.exp2`, `tl.extra.libdevice.tanh`."""


class Language(ModuleType):
    """The package itself, but importing one of its modules makes no attribute of it.

    Otherwise `tl.tensor` were the class or the module `tensor.py`, depending on what was imported before.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType):
            super().__setattr__(name, value)


importlib.import_module(__name__).__class__ = Language


def _modules() -> Iterator[ModuleType]:
    """The modules of the language, each imported when it is its turn."""
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
    raise AttributeError(explain_missing("tl", name))


def __dir__() -> list[str]:
    return sorted(name for module in _modules() for name in module.__all__)
