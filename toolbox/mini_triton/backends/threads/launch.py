"""Launches on a GPU, by NVIDIA's driver. (Given.)"""

from __future__ import annotations

import contextlib
import ctypes
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mini_triton.backends.occupancy import GPUS, WARP, limits
from mini_triton.backends.threads.assembler import assemble
from mini_triton.backends.threads.driver import Function, tensor_map
from mini_triton.emulator.back_end import NARROW

if TYPE_CHECKING:
    from mini_triton.backends.threads.back_end import Code
    from mini_triton.runtime.options import Options

FEW = 4
"""Where so many programs are on a multiprocessor, a further one matters little."""
FLOATS = {"fp32": ctypes.c_float, "fp64": ctypes.c_double}  # they round to infinity where `struct` raises


class Launcher:
    """Launches a kernel on one GPU: `backends.launch.Launcher` for this back end."""

    def __init__(self, code: Code, types: Sequence[str], options: Options, gpu: int) -> None:
        import torch

        self.gpu, self.current = gpu, torch._C._cuda_getDevice
        self.stream, self.selected = torch._C._cuda_getCurrentRawStream, torch.cuda.device
        self.maps = code.maps
        self.prepare = [preparation(type) for type in types]
        with self.selected(gpu):
            torch.cuda.current_stream()  # creates the CUDA context
            self.function = load(code, len(types), options.enable_fp_fusion)

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run every program of the grid on PyTorch's current stream, without waiting for the programs."""
        if self.current() != self.gpu:
            with self.selected(self.gpu):
                self(grid, arguments)
        elif 0 not in grid:
            bits = list(map(operator.call, self.prepare, arguments))
            maps = [tensor_map(*map.describe(bits), map.box) for map in self.maps]
            self.function.launch(grid, self.stream(self.gpu), bits, maps)


def load(code: Code, count: int, fused: bool) -> Function:
    """A kernel with `count` arguments, loaded onto the current GPU.

    The assembler does not know how much shared memory a program takes, so it may give registers to threads that keep a
    further program from a multiprocessor. If this would be one of the first few, threads get fewer registers, unless
    some would then be in memory or an instruction needs more. To assemble twice takes time, so this is only tried for
    kernels with tensor cores, and not if `maxnreg` was chosen.
    """

    def loaded(ptx: str) -> Function:
        machine_code = assemble(ptx, code.target, fused)
        return Function(machine_code, code.name, code.threads, code.shared, count, len(code.maps))

    function = loaded(code.ptx)
    multiplies = "wgmma" in code.ptx or "mma.sync" in code.ptx
    gpu = GPUS.get(code.target.removesuffix("a"))
    if gpu and multiplies and ".maxnreg" not in code.ptx:
        found = limits(gpu, code.threads // WARP, function.registers, code.shared)
        blocks = found.pop("registers")
        if blocks < min(FEW, *found.values()):
            size = f".reqntid {code.threads}\n"
            with contextlib.suppress(RuntimeError):
                smaller = loaded(code.ptx.replace(size, f"{size}.minnctapersm {blocks + 1}\n"))
                if smaller.local <= function.local:
                    return smaller
    return function


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
