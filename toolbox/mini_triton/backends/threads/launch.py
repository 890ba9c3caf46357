"""Launches on a GPU, by NVIDIA's driver. (Given.)"""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.backends.launch import selected
from mini_triton.backends.threads.assembler import assemble
from mini_triton.backends.threads.driver import Function
from mini_triton.emulator.back_end import NARROW

if TYPE_CHECKING:
    from mini_triton.backends.threads.back_end import Code
    from mini_triton.runtime.options import Options

CTYPES: dict[str, Any] = {
    "i1": ctypes.c_uint8,
    **{f"{u}{width}": getattr(ctypes, f"c_int{width}") for u in "iu" for width in (8, 16, 32, 64)},
    "fp32": ctypes.c_float,
    "fp64": ctypes.c_double,
    **dict.fromkeys(NARROW, ctypes.c_uint16),
}
"""How the driver takes an argument of each type."""


class Launcher:
    """Launches a kernel on one GPU: `backends.launch.Launcher` for this back end."""

    def __init__(self, code: Code, types: Sequence[str], options: Options, gpu: int) -> None:
        import torch

        self.gpu, self.stream = gpu, torch._C._cuda_getCurrentRawStream
        self.prepare = [preparation(type) for type in types]
        machine_code = assemble(code.ptx, code.target, options.enable_fp_fusion)
        places = [ctypes.c_uint64 if type.startswith("*") else CTYPES[type] for type in types]
        with torch.cuda.device(gpu):
            torch.cuda.current_stream()  # creates the CUDA context
            self.function = Function(machine_code, code.name, code.threads, code.shared, places)

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run every program of the grid on PyTorch's current stream, without waiting for the programs."""
        if 0 in grid:
            return
        values = [prepare(value) if prepare else value for prepare, value in zip(self.prepare, arguments, strict=True)]
        with selected(self.gpu):
            self.function.launch(grid, self.stream(self.gpu), values)


def preparation(type: str) -> Callable[[Any], Any] | None:
    """The function that turns an argument into what the driver takes; None if the driver takes the argument."""
    if type.startswith("*"):
        return operator.methodcaller("data_ptr")
    return functools.partial(bits_of, NARROW[type]) if type in NARROW else None


def bits_of(dtype: Any, value: float) -> int:
    """The bits of a narrow float."""
    return int(np.asarray(value, dtype).view(np.uint16))
