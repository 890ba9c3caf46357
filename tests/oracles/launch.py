"""Run TTIR on a GPU. Imports Triton and torch: for the server; from a test, ask `tests.oracles.gpu`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton


def run(module: str, arguments: str, grid: Sequence[int], options: dict[str, Any]) -> None:
    """Compile the file `module`, launch it on the arguments in a file, write them back as they are then.

    Arguments are tensors, integers and floats, one for each parameter of the module.
    """
    values = torch.load(arguments, weights_only=True)
    on_gpu = [value.cuda() if isinstance(value, torch.Tensor) else value for value in values]
    kernel = triton.compile(module, options=options)
    kernel[tuple(grid)](*on_gpu)
    torch.cuda.synchronize()
    torch.save([value.cpu() if isinstance(value, torch.Tensor) else value for value in on_gpu], arguments)
