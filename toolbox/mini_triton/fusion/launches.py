"""Cheap launches of a program's kernels, which differ only in the addresses of their tensors. (Given.)

A model's step has hundreds of launches. A small kernel runs for a few microseconds, so binding and specializing its
arguments again would take longer than the kernel.

Source: the launchers of PyTorch's `torch/_inductor/runtime/triton_heuristics.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from mini_triton.backends.launch import Launcher
from mini_triton.runtime.compiled_kernel import CompiledKernel
from mini_triton.runtime.grids import grid_of
from mini_triton.runtime.jit import JITFunction
from mini_triton.runtime.specialization import ALIGNMENT


class FusedKernel(JITFunction):
    """A kernel of a program, whose tensors have the same dtypes and the same device in every launch.

    If a grid and constants have been launched on a GPU, the next launch with them only compares alignments. Environment
    variables are not read again.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__(fn)
        self.ready: dict[Any, tuple[CompiledKernel, int, Callable[..., Any], tuple[int, int, int]]] = {}

    def launch(self, grid: Any, /, *arguments: Any, **keywords: Any) -> CompiledKernel:
        key = grid, *keywords.values()
        if key in self.ready:
            kernel, gpu, run, sizes = self.ready[key]
            pointers, bits = [], 0
            for tensor in arguments:
                pointer = tensor.data_ptr()
                pointers.append(pointer)
                bits |= pointer
            if not bits % ALIGNMENT and torch.cuda.current_device() == gpu:
                run(sizes, pointers)
                return kernel
        kernel = super().launch(grid, *arguments, **keywords)
        if all(isinstance(x, torch.Tensor) and x.data_ptr() % ALIGNMENT == 0 for x in arguments):
            self.prepare(key, kernel, grid, arguments[0].get_device())
        return kernel

    def prepare(self, key: Any, kernel: CompiledKernel, grid: Any, gpu: int) -> None:
        """Remember a launch of code that real Triton has compiled."""
        launcher, sizes = kernel.launchers.get(gpu), grid_of(kernel.name, grid, {})
        if isinstance(launcher, Launcher) and not launcher.lowered.kernel.joins and 0 not in sizes:
            self.ready[key] = kernel, gpu, launcher.lowered.kernel.launch, sizes
