"""A compiler for kernels written in Triton's language. To use it, write `import mini_triton as triton`.

Names are loaded on first use, so the modules of early milestones can be imported without those of later milestones.
"""

from __future__ import annotations

import importlib
from typing import Any

from mini_triton.given import aliases
from mini_triton.given.missing import explain_missing

MODULES = ("compiler", "knobs", "language", "runtime", "sanitizer", "testing", "tools", "tuning")

__version__ = "3.7.0"
"""The version of Triton whose language we implement, for libraries that check it."""

EXPORTS = {
    "jit": "mini_triton.runtime.jit",
    "JITFunction": "mini_triton.runtime.jit",
    "KernelInterface": "mini_triton.runtime.jit",
    "MockTensor": "mini_triton.runtime.arguments",
    "reachable": "mini_triton.runtime.given.reach",
    "constexpr": "mini_triton.language.constexpr",
    "autotune": "mini_triton.tuning.autotuner",
    "Config": "mini_triton.tuning.autotuner",
    "heuristics": "mini_triton.tuning.autotuner",
    "set_allocator": "mini_triton.tools.tensor_descriptor",
    "constexpr_function": "mini_triton.frontend.function",
    "cdiv": "mini_triton.frontend.function",
    "next_power_of_2": "mini_triton.frontend.function",
    "compile": "mini_triton.given.compiler",
    "reinterpret": "mini_triton.given.reinterpret",
    "TensorWrapper": "mini_triton.given.reinterpret",
    "TritonError": "mini_triton.errors",
    "CompilationError": "mini_triton.errors",
    "OutOfResources": "mini_triton.errors",
}

aliases.install()


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"mini_triton.{name}")
    if name in EXPORTS:
        value = globals()[name] = getattr(importlib.import_module(EXPORTS[name]), name)
        return value
    raise AttributeError(explain_missing("triton", name, __dir__()))


def __dir__() -> list[str]:
    return [*MODULES, *EXPORTS]
