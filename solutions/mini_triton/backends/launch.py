"""Launching machine code on the GPU that holds the tensors.

Source: `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mini_triton.backends.handoff import Lowered

NO_SWITCH: Any = nullcontext()


def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    """The number of the GPU that holds all memory of a launch.

    `memory` maps names of arguments to tensors and NumPy arrays. Raises `ValueError` if no GPU holds all of them. The
    message names the kernel, the devices ("cuda:0", "cpu"), and one argument on each device.
    """
    # [task 10.2] A tensor's method `get_device()` returns the number of its GPU. Try it on a tensor on the CPU.
    devices: dict[int, str] = {}
    for name, value in memory.items():
        devices.setdefault(value.get_device() if hasattr(value, "get_device") else -1, name)
    if len(devices) > 1 or -1 in devices:
        names = {number: "cpu" if number < 0 else f"cuda:{number}" for number in devices}
        places = " and ".join(f"{name} is on {names[number]}" for number, name in devices.items())
        raise ValueError(f"{kernel} runs on one GPU, where all of its memory must be: {places}")
    return next(iter(devices))
    # [end]


class Launcher:
    """Launches a kernel on one GPU."""

    def __init__(self, lowered: Lowered, gpu: int) -> None:
        self.lowered = lowered
        self.gpu = gpu

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run every program of the grid, on PyTorch's current stream. The call may return before the programs finish.

        `arguments` holds tensors and numbers, in the order of the module's parameters.
        """
        # [task 10.2] `self.lowered.kernel.launch(grid, arguments)` launches on the current GPU. CUDA rejects the grid
        # (4, 0, 1). How many programs does it have?
        if 0 in grid:
            return
        with selected(self.gpu):
            self.lowered.kernel.launch(grid, arguments)
        # [end]


def selected(gpu: int) -> Any:
    """A context in which this GPU is the current one. (Given.)"""
    import torch

    return NO_SWITCH if torch.cuda.current_device() == gpu else torch.cuda.device(gpu)


def capability_here(gpu: int) -> int:
    """The compute capability of a GPU of this machine: 90 for sm_90. (Given.)

    Raises `RuntimeError` if PyTorch is built for AMD's GPUs, which have no compute capability.
    """
    import torch

    if torch.version.hip:
        raise RuntimeError("mini_triton compiles for NVIDIA's GPUs, but this PyTorch is for AMD's: use CPU tensors")
    major, minor = torch.cuda.get_device_capability(gpu)
    return 10 * major + minor
