"""Real Triton: it parses, compiles and launches the slice's text, and interprets a kernel's source. (Given.)"""

from __future__ import annotations

import importlib.util
import inspect
import os
import tempfile
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


def is_installed(*packages: str) -> bool:
    """Whether these packages are installed."""
    return all(importlib.util.find_spec(package) for package in packages)


def parse(text: str) -> str:
    """TTIR as real Triton prints it, having verified it. Raises if Triton refuses it."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", 90, 32)).load_dialects(context)
    with tempfile.TemporaryDirectory() as folder:
        module = ir.parse_mlir_module(_written(folder, "kernel.ttir", text), context)
        module.context = context
        return module.str_nodebug()


def compile(text: str) -> Any:
    """What real Triton makes of TTIR: `.asm["ptx"]` for an H100, or for the GPU that is here."""
    import triton
    from triton.backends.compiler import GPUTarget

    target = None if has_gpu() else GPUTarget("cuda", 90, 32)
    with tempfile.TemporaryDirectory() as folder:
        return triton.compile(_written(folder, "kernel.ttir", text), target=target)


def has_gpu() -> bool:
    """Whether PyTorch is here, and sees a GPU."""
    if not is_installed("torch", "triton"):
        return False
    import torch

    return torch.cuda.is_available()


def launch(text: str, grid: int, arguments: Mapping[str, Any]) -> None:
    """Launch TTIR on the GPU with copies of the arguments, and write the results back to NumPy's arrays."""
    import torch

    there = {name: torch.tensor(a, device="cuda") if _is_array(a) else a for name, a in arguments.items()}
    compile(text)[(grid, 1, 1)](*there.values())
    for name, argument in arguments.items():
        if _is_array(argument):
            argument[:] = there[name].cpu().numpy()


def interpret(function: Callable[..., Any], grid: int, arguments: Mapping[str, Any]) -> None:
    """Run a kernel's source by Triton's interpreter, which calls the function once for each program."""
    import torch

    before = os.environ.get("TRITON_INTERPRET")
    os.environ["TRITON_INTERPRET"] = "1"  # read when the decorator runs
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = HEAD + textwrap.dedent(inspect.getsource(function))
            path = _written(folder, "kernel.py", source)
            spec = importlib.util.spec_from_file_location("interpreted_kernel", path)
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            there = {name: torch.from_numpy(a) if _is_array(a) else a for name, a in arguments.items()}
            getattr(module, function.__name__)[(grid,)](**there)
    finally:
        if before is None:
            del os.environ["TRITON_INTERPRET"]
        else:
            os.environ["TRITON_INTERPRET"] = before


def _is_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray)


def _written(folder: str, name: str, text: str) -> str:
    path = Path(folder, name)
    path.write_text(text, encoding="utf-8")
    return str(path)
