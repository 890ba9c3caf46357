"""The launch of machine code on a GPU, with tensors that are there already.

Source: `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mini_triton.backends.handoff import Lowered

HERE: Any = nullcontext()

NAMES = {-1: "cpu"}


def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    """The number of the GPU that all memory of a launch is on.

    Raises `ValueError`, with the kernel's name and those of arguments at fault, if some is elsewhere.
    """
    places = {name: getattr(value, "get_device", lambda: -1)() for name, value in memory.items()}
    if len(set(places.values())) > 1 or not NAMES.keys().isdisjoint(places.values()):
        table = "".join(f"\n  {name:20} {NAMES.get(number, f'cuda:{number}')}" for name, number in places.items())
        raise ValueError(f"{kernel} needs all of its memory on one GPU. It is here:{table}")
    return places.popitem()[1]


class Launcher:
    """Launches a kernel on one GPU."""

    def __init__(self, lowered: Lowered, gpu: int) -> None:
        self.lowered = lowered
        self.gpu = gpu

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run it for every program of the grid, on PyTorch's current stream. It may still run when this returns.

        The arguments are those of the module's parameters, in order: tensors and numbers.
        """
        if grid[0] * grid[1] * grid[2]:
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
