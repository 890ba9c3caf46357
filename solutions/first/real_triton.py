"""Real Triton parses, compiles and launches the slice's text, and interprets a kernel's source. (Given.)"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


class Refused(Exception):
    """Real Triton rejects a text. The message is Triton's."""


HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


def is_installed(*packages: str) -> bool:
    """Whether these packages are installed."""
    return all(importlib.util.find_spec(package) for package in packages)


def parse(text: str) -> str:
    """Verify TTIR with real Triton, and return it as Triton prints it. Raises `Refused` if the verifier rejects it."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", 90, 32)).load_dialects(context)
    with tempfile.TemporaryDirectory() as folder:
        path = _written(folder, "kernel.ttir", text)
        module = _telling(lambda: ir.parse_mlir_module(path, context))
        module.context = context
        return module.str_nodebug()


def compile(text: str) -> Any:
    """Compile TTIR for this machine's GPU, or, without one, for an H100. The result's `.asm["ptx"]` is the PTX."""
    import triton
    from triton.backends.compiler import GPUTarget

    target = None if has_gpu() else GPUTarget("cuda", 90, 32)
    with tempfile.TemporaryDirectory() as folder:
        return triton.compile(_written(folder, "kernel.ttir", text), target=target)


def has_gpu() -> bool:
    """Whether PyTorch is installed and finds a GPU."""
    if not is_installed("torch", "triton"):
        return False
    import torch

    return torch.cuda.is_available()


def launch(text: str, grid: int, arguments: Mapping[str, Any]) -> None:
    """Launch TTIR on the GPU with copies of the arguments, and copy the results back to the NumPy arrays."""
    import torch

    there = {name: torch.tensor(a, device="cuda") if _is_array(a) else a for name, a in arguments.items()}
    compile(text)[(grid, 1, 1)](*there.values())
    for name, argument in arguments.items():
        if _is_array(argument):
            argument[:] = there[name].cpu().numpy()


class Memory:
    """A NumPy array as an argument for Triton's interpreter, which expects a tensor of PyTorch."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype = array, array.dtype

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def itself(self, *_: Any, **__: Any) -> Memory:
        return self

    # The interpreter copies tensors to the CPU and back. This one is there already.
    untyped_storage = storage_offset = size = stride = new_empty = set_ = cpu = copy_ = itself


def interpret(kernel: ast.FunctionDef, grid: int, arguments: Mapping[str, Any]) -> None:
    """Run a kernel's syntax tree in Triton's interpreter, which calls the function once for each program."""
    before = os.environ.get("TRITON_INTERPRET")
    os.environ["TRITON_INTERPRET"] = "1"  # Triton reads this variable when the decorator runs
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = _written(folder, "kernel.py", HEAD + ast.unparse(kernel) + "\n")
            spec = importlib.util.spec_from_file_location("interpreted_kernel", path)
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            there = {name: Memory(a) if _is_array(a) else a for name, a in arguments.items()}
            getattr(module, kernel.name)[(grid,)](**there)
    finally:
        if before is None:
            del os.environ["TRITON_INTERPRET"]
        else:
            os.environ["TRITON_INTERPRET"] = before


def _telling(parse: Callable[[], Any]) -> Any:
    """The result of `parse`. MLIR writes errors to standard error; this function raises them as `Refused`."""
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            return parse()
        except RuntimeError:
            said.seek(0)
            messages = said.read().decode(errors="replace").splitlines()
            errors = [line.partition("error: ")[2] for line in messages if "error: " in line]
            raise Refused("\n".join(errors)) from None
        finally:
            os.dup2(before, 2)
            os.close(before)


def _is_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray)


def _written(folder: str, name: str, text: str) -> str:
    path = Path(folder, name)
    path.write_text(text, encoding="utf-8")
    return str(path)
