"""The launch of machine code on a GPU, with tensors that are there already.

Source: `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mini_triton.backends.handoff import Lowered

HERE: Any = nullcontext()


def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    """The number of the GPU that all memory of a launch is on.

    Raises `ValueError`, with the kernel's name and those of arguments at fault, if some is elsewhere.
    """
    gpu = None
    for name in memory:
        value = memory[name]
        device = -1
        if hasattr(value, "get_device"):
            device = value.get_device()
        if gpu is None:
            gpu = device
            first = name
        elif device != gpu:
            message = f"{kernel}: memory on several devices:"
            for name in memory:
                message += f" {name} is on {place(memory[name])}."
            raise ValueError(message)
    if gpu is None or gpu == -1:
        raise ValueError(f"{kernel}: all memory is on the cpu, that of {first}, for instance")
    return gpu


def place(value: Any) -> str:
    if not hasattr(value, "get_device") or value.get_device() < 0:
        return "cpu"
    return "cuda:" + str(value.get_device())


class Launcher:
    """Launches a kernel on one GPU."""

    def __init__(self, lowered: Lowered, gpu: int) -> None:
        self.lowered = lowered
        self.gpu = gpu

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run it for every program of the grid, on PyTorch's current stream. It may still run when this returns.

        The arguments are those of the module's parameters, in order: tensors and numbers.
        """
        for size in grid:
            if size == 0:
                return
        with selected(self.gpu):
            self.lowered.kernel.launch(grid, arguments)


def selected(gpu: int) -> Any:
    """A context in which this GPU is the current one. (Given.)"""
    import torch

    return HERE if torch.cuda.current_device() == gpu else torch.cuda.device(gpu)


def capability_here(gpu: int) -> int:
    """The compute capability of a GPU of this machine: 90 for sm_90. (Given.)"""
    import torch

    major, minor = torch.cuda.get_device_capability(gpu)
    return 10 * major + minor
