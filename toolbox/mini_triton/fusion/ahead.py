"""Compile a program's kernels for a GPU before the program runs, in threads. (Given.)

Real Triton and LLVM do not hold Python's lock, and NVIDIA's assembler is a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import torch

from mini_triton.fusion.source import Kernel


def compile_ahead(module: ModuleType, kernels: Iterable[tuple[Kernel, torch.device]]) -> None:
    """Compile the kernels of a program that run on a GPU, unless symbolic sizes are among their arguments."""
    wanted = {
        (kernel.name, device.index, tuple(tensor.dtype for tensor in kernel.tensors)): kernel.constants
        for kernel, device in kernels
        if device.type == "cuda" and not kernel.numbers
    }
    with ThreadPoolExecutor() as pool:
        launchers = [
            pool.submit(load, getattr(module, name).warmup(*dtypes, grid=(1,), **constants), gpu)
            for (name, gpu, dtypes), constants in wanted.items()
        ]
    for launcher in launchers:
        launcher.result()


def load(kernel: Any, gpu: int) -> None:
    """Make what launches a compiled kernel on a GPU."""
    kernel.launchers[gpu] = kernel.back_end.launcher(kernel, gpu)
