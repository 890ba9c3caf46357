"""Launches on a GPU, by NVIDIA's driver. (Given.)"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.backends.threads.assembler import assemble
from mini_triton.backends.threads.driver import Function, tensor_map
from mini_triton.emulator.back_end import NARROW

if TYPE_CHECKING:
    from mini_triton.backends.threads.back_end import Code
    from mini_triton.runtime.options import Options

FLOATS = {"fp32": ctypes.c_float, "fp64": ctypes.c_double}  # they round to infinity where `struct` raises


class Launcher:
    """Launches a kernel on one GPU: `backends.launch.Launcher` for this back end."""

    def __init__(self, code: Code, types: Sequence[str], options: Options, gpu: int) -> None:
        import torch

        self.gpu, self.current = gpu, torch._C._cuda_getDevice
        self.stream, self.selected = torch._C._cuda_getCurrentRawStream, torch.cuda.device
        self.maps = code.maps
        self.prepare = [preparation(type) for type in types]
        machine_code = assemble(code.ptx, code.target, options.enable_fp_fusion)
        with self.selected(gpu):
            torch.cuda.current_stream()  # creates the CUDA context
            self.function = Function(machine_code, code.name, code.threads, code.shared, len(types), len(code.maps))

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run every program of the grid on PyTorch's current stream, without waiting for the programs."""
        if self.current() != self.gpu:
            with self.selected(self.gpu):
                self(grid, arguments)
        elif 0 not in grid:
            bits = list(map(operator.call, self.prepare, arguments))
            maps = [tensor_map(*map.describe(bits), map.box) for map in self.maps]
            self.function.launch(grid, self.stream(self.gpu), bits, maps)


def preparation(type: str) -> Callable[[Any], int]:
    """The function that turns an argument into the bits that the driver takes."""
    if type.startswith("*"):
        return operator.methodcaller("data_ptr")
    if type in NARROW:
        return lambda value: int(np.asarray(value, NARROW[type]).view(np.uint16))
    if type in FLOATS:
        make = FLOATS[type]
        return lambda value: int.from_bytes(make(value), "little")
    return operator.index
