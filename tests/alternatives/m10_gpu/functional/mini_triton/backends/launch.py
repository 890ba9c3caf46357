"""The launch of machine code on a GPU, with tensors that are there already.

Source: `CompiledKernel` in Triton's `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mini_triton.backends.handoff import Lowered

HERE: Any = nullcontext()


def device_of(value: Any) -> int:
    """The number of an argument's device."""
    try:
        number: int = value.get_device()
    except AttributeError:
        return -1
    return number


def gpu_of(kernel: str, memory: Mapping[str, Any]) -> int:
    """The number of the GPU that all memory of a launch is on.

    Raises `ValueError`, with the kernel's name and those of arguments at fault, if some is elsewhere.
    """
    by_device = operator.itemgetter(1)
    placed = sorted(((name, device_of(value)) for name, value in memory.items()), key=by_device)
    match [(device, next(names)[0]) for device, names in itertools.groupby(placed, by_device)]:
        case [(gpu, _)] if gpu >= 0:
            return gpu
        case places:
            spelled = {device: f"cuda:{device}" if device >= 0 else "cpu" for device, _ in places}
            last = {value: name for name, value in placed}  # any argument of a device will do
            where = ", ".join(f"{last[device]}: {spelled[device]}" for device, _ in places)
            raise ValueError(f"memory of {kernel} that is not on the same GPU as all other: {where}")


class Launcher:
    """Launches a kernel on one GPU."""

    def __init__(self, lowered: Lowered, gpu: int) -> None:
        self.lowered = lowered
        self.gpu = gpu

    def __call__(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run it for every program of the grid, on PyTorch's current stream. It may still run when this returns.

        The arguments are those of the module's parameters, in order: tensors and numbers.
        """
        if all(grid):
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
