"""Run kernels on a GPU. Imports Triton and torch: for the server; from a test, ask `tests.oracles.gpu`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton


def run(kernel: Any, arguments: str, grid: Sequence[int], parameters: Sequence[int | None]) -> None:
    """Launch a compiled kernel on values in a file, and write them back as they are then.

    Values are tensors, numbers, and `{"addresses": [0, 3]}` for the addresses of others. `parameters` says which of
    them the kernel gets; None is a constant, which has no place in the machine code.
    """
    values = torch.load(arguments, weights_only=True)
    on_gpu = [value.cuda() if isinstance(value, torch.Tensor) else value for value in values]
    for i, value in enumerate(values):
        if isinstance(value, dict):
            on_gpu[i] = torch.tensor([on_gpu[other].data_ptr() for other in value["addresses"]], device="cuda")
    kernel[tuple(grid)](*(None if place is None else on_gpu[place] for place in parameters))
    torch.cuda.synchronize()
    after = [new.cpu() if isinstance(old, torch.Tensor) else old for old, new in zip(values, on_gpu, strict=True)]
    torch.save(after, arguments)


def compiled(source: Any, options: dict[str, Any], signature: Sequence[str] = ()) -> Any:
    """A kernel for this machine's GPU, from a file's path or from an `ASTSource`.

    The signature says how numbers are passed. For a file, Triton takes it from the types in there, and refuses f64.
    """
    kernel = triton.compile(source, options=options)
    if signature:
        kernel.src.signature = dict(enumerate(signature))
    return kernel
