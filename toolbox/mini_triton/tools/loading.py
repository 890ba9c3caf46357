"""The kernels in a user's file. (Given.)"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mini_triton.compat.substitution import substituted
from mini_triton.frontend.adopted import adopt
from mini_triton.frontend.function import KernelSource


def load_file(path: Path) -> dict[str, Any]:
    """Execute a Python file, and return the names that it defines. If it imports `triton`, it gets mini_triton.

    Raises `ValueError` if there is no such file.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file")
    sys.path.insert(0, str(path.resolve().parent))  # the file may import files beside it
    module = importlib.util.module_from_spec(spec)
    with substituted():
        spec.loader.exec_module(module)
    return vars(module)


def kernel_in(names: Mapping[str, Any], name: str | None = None) -> KernelSource:
    """The kernel of this name among a file's names; without a name, the only kernel.

    The kernel may be tuned, or use real Triton's `@jit`. Raises `ValueError` if there is no such kernel.
    """
    kernels = {known: adopt(untuned(value)) for known, value in names.items()}
    kernels = {known: kernel for known, kernel in kernels.items() if isinstance(kernel, KernelSource)}
    if not kernels:
        raise ValueError("the file has no kernel")
    if name is None and len(kernels) == 1:
        (name,) = kernels
    if name not in kernels:
        asked = "name the kernel" if name is None else f"there is no kernel {name}"
        raise ValueError(f"{asked}; the file has {', '.join(kernels)}")
    return kernels[name]


def untuned(value: Any) -> Any:
    """The kernel below `@autotune` and `@heuristics`; any other value unchanged."""
    while hasattr(value, "fn") and hasattr(value.fn, "fn"):
        value = value.fn
    return value
