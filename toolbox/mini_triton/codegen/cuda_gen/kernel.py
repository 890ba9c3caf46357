"""A kernel that Numba compiles for a GPU, or runs in its simulator."""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import operator
import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mini_triton.codegen.cuda_gen.driver import Function
from mini_triton.codegen.cuda_gen.scalars import kept_as
from mini_triton.codegen.cuda_gen.simulation import SIMULATED
from mini_triton.codegen.kernel import argument
from mini_triton.codegen.numba_gen.scalars import kind, narrow
from mini_triton.ir.storage import Buffer, numpy_dtype
from mini_triton.ir.types import PointerType, Type

CTYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    **{f"{u}int{width}": getattr(ctypes, f"c_{u}int{width}") for u in ("", "u") for width in (8, 16, 32, 64)},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


class CudaKernel:
    """Runs the programs of a grid. A program is a block of threads."""

    def __init__(self, source: str, parameters: Sequence[Type], folder: Path | None = None) -> None:
        self.source, self.parameters, self.folder = source, parameters, folder
        self.digest = hashlib.sha256(source.encode()).hexdigest()[:16]
        self.file = f"<numba_cuda {self.digest}>"
        linecache.cache[self.file] = (len(source), None, source.splitlines(True), self.file)
        facts = re.search(r"^THREADS, SHARED = (\d+), (\d+)$", source, re.M)
        assert facts
        self.threads, self.shared = map(int, facts.groups())
        self.functions: dict[int, Function] = {}  # by GPU

    def function(self) -> Callable[..., None]:
        """The Python function of the source."""
        space: dict[str, Any] = {"__name__": "mini_triton_numba_cuda"}
        exec(compile(self.source.replace("@cuda.jit\n", ""), self.file, "exec"), space)
        return list(space.values())[-1]

    # --- in the simulator

    def __call__(self, grid: Sequence[int], arguments: Sequence[Any], reachable: Sequence[Buffer] = ()) -> None:
        """Run all programs of a grid in the simulator. Each argument is a `Buffer` or a number."""
        if not SIMULATED:
            raise RuntimeError(
                "the back end numba_cuda runs on tensors of a GPU; arrays on a CPU need Numba's simulator: start"
                " Python with NUMBA_ENABLE_CUDASIM=1"
            )
        if 0 in grid:
            return
        values = []
        for type, value in zip(self.parameters, arguments, strict=True):
            if isinstance(type, PointerType):
                values.append(argument(numpy_dtype(type.pointee), value).data.view(kept_as(type.pointee)))
            else:
                values.append(number(type, value))
        from numba import cuda

        kernel = cuda.jit(self.function())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # integers wrap around, floats become infinite
            kernel[(*grid, 1, 1)[:3], self.threads, 0, self.shared](*values)

    # --- on a GPU

    def ptx(self, capability: tuple[int, int]) -> str:
        """The PTX that Numba generates, which is kept on disk."""
        path = self.folder and self.folder / f"{self.digest}.sm_{capability[0]}{capability[1]}.ptx"
        if path and path.exists():
            return path.read_text()
        from numba import cuda

        signature = tuple(numba_type(type) for type in self.parameters)
        text, _ = cuda.compile_ptx(self.function(), signature, cc=capability, launch_bounds=self.threads)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return text

    def load(self, capability: tuple[int, int]) -> Function:
        """The kernel on the current GPU."""
        text = self.ptx(capability)
        entry = re.search(r"\.visible \.entry (\w+)", text)
        assert entry
        forms = ["uint64" if isinstance(t, PointerType) else kind(t).rstrip("_") for t in self.parameters]
        places = [CTYPES[form] for form in forms]
        return Function(text.encode() + b"\0", entry[1], self.threads, self.shared, places)


class CudaLauncher:
    """Launches a kernel on one GPU: `backends.launch.Launcher` for this back end."""

    def __init__(self, kernel: CudaKernel, gpu: int) -> None:
        import torch

        self.gpu, self.torch = gpu, torch
        self.prepare = [preparation(type) for type in kernel.parameters]
        with torch.cuda.device(gpu):
            torch.cuda.current_stream()  # creates the CUDA context
            self.function = kernel.load(torch.cuda.get_device_capability(gpu))

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run every program of the grid on PyTorch's current stream, without waiting for the programs."""
        if 0 in grid:
            return
        values = [prepare(value) if prepare else value for prepare, value in zip(self.prepare, arguments, strict=True)]
        stream = self.torch._C._cuda_getCurrentRawStream(self.gpu)
        if self.torch.cuda.current_device() == self.gpu:
            self.function.launch(grid, stream, values)
        else:
            with self.torch.cuda.device(self.gpu):
                self.function.launch(grid, stream, values)


def preparation(type: Type) -> Callable[[Any], Any] | None:
    """The function that turns a value into an argument of a kernel; None if the value is the argument."""
    if isinstance(type, PointerType):
        return operator.methodcaller("data_ptr")
    return partial(number, type) if narrow(type) else None


def number(type: Type, value: Any) -> Any:
    """A number as the generated function takes it: a narrow float is rounded, and passed as a float32."""
    return np.dtype(kind(type).rstrip("_")).type(argument(numpy_dtype(type), value))


def numba_type(type: Type) -> Any:
    """Numba's type of a parameter."""
    from numba import types

    if isinstance(type, PointerType):
        return types.CPointer(getattr(types, kept_as(type.pointee)))
    return getattr(types, kind(type).replace("bool_", "boolean"))
