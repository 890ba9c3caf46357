"""Run kernels on a GPU. Imports Triton and torch: for the server; from a test, ask `tests.oracles.gpu`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton


def run(kernel: Any, arguments: str, grid: Sequence[int], hidden: int) -> None:
    """Launch a compiled kernel on the arguments in a file, and write them back as they are then.

    Arguments are tensors, numbers, None for constants, and `{"addresses": [0, 3]}` for those of other arguments. The
    last `hidden` ones are no parameters of the kernel.
    """
    values = torch.load(arguments, weights_only=True)
    on_gpu = [value.cuda() if isinstance(value, torch.Tensor) else value for value in values]
    for i, value in enumerate(values):
        if isinstance(value, dict):
            on_gpu[i] = torch.tensor([on_gpu[other].data_ptr() for other in value["addresses"]], device="cuda")
    kernel[tuple(grid)](*on_gpu[: len(on_gpu) - hidden])
    torch.cuda.synchronize()
    after = [value.cpu() if isinstance(value, torch.Tensor) else value for value in on_gpu]
    torch.save([value if isinstance(value, dict) else new for value, new in zip(values, after, strict=True)], arguments)


def compiled(source: Any, options: dict[str, Any]) -> Any:
    """A kernel for this machine's GPU, from a file's path or from an `ASTSource`."""
    return triton.compile(source, options=options)
