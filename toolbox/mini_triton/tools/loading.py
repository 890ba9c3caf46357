"""The kernels in a user's file. (Given.)"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mini_triton.compat.substitution import substituted
from mini_triton.errors import TritonError
from mini_triton.frontend.adopted import adopt
from mini_triton.frontend.function import KernelSource


def load_file(path: Path) -> dict[str, Any]:
    """Execute a Python file, and return the names that it defines. If it imports `triton`, it gets mini_triton.

    Raises `ValueError` if there is no such file, and if the file raises an error; the message names the file's line.
    If the file imports a missing package, raises `ModuleNotFoundError`. Errors of the compiler propagate.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file")
    sys.path.insert(0, str(path.resolve().parent))  # the file may import files beside it
    module = importlib.util.module_from_spec(spec)
    with substituted():
        try:
            spec.loader.exec_module(module)
        except (NotImplementedError, TritonError):  # a stub, and an error whose message names the line
            raise
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"{place_in(path, error)}: {error}", name=error.name) from error
        except Exception as error:
            text = error.msg if isinstance(error, SyntaxError) else str(error)
            raise ValueError(f"{place_in(path, error)}: {type(error).__name__}: {text}") from error
    return vars(module)


def place_in(path: Path, error: Exception) -> str:
    """The line of a file that raised an error, as "file:line". For a syntax error, the line that does not parse."""
    if isinstance(error, SyntaxError):
        return f"{error.filename or path}:{error.lineno}"
    file = os.path.abspath(path)
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return f"{path}:{lines[-1]}" if lines else str(path)


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
