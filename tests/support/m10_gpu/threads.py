"""Kernels run by the back end for Numba on GPUs: on a GPU where there is one, otherwise in Numba's simulator."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.ir.core import Module
from mini_triton.ir.storage import Buffer

from tests import oracles
from tests.support.m06_codegen import numpy_backend

WARPS = 1
"""In the simulator, each GPU thread is a Python thread, so a small number of threads runs faster."""


@functools.cache
def has_gpu() -> bool:
    """Whether kernels run on a GPU, and not in Numba's simulator."""
    if importlib.util.find_spec("numba") is None:
        oracles.unavailable("no Numba: pip install numba numba-cuda")
    from mini_triton.codegen.cuda_gen.simulation import SIMULATED

    if SIMULATED or importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def run(
    module: Module, grid: Sequence[int], arguments: Sequence[Any], hidden: Sequence[Any] = (), warps: int = WARPS
) -> tuple[list[Any], str]:
    """The arguments and hidden buffers after a run of the kernel on copies of them, and the generated source."""
    on_gpu = has_gpu()
    from mini_triton.codegen.cuda_gen.kernel import CudaKernel, CudaLauncher
    from mini_triton.codegen.cuda_gen.program import generate

    source = generate(module, warps, fused=False)  # NumPy rounds products, too
    values, given, reachable = numpy_backend.prepare(module, arguments, hidden)
    kernel = CudaKernel(source, [parameter.type for parameter in numpy_backend.parameters(module)])
    if not on_gpu:
        kernel(grid, given, reachable)
        return values, source
    import torch

    tensors = [torch.from_numpy(v.data.view(np.uint8)).cuda() if isinstance(v, Buffer) else v for v in given]
    x, y, z = (*grid, 1, 1)[:3]
    CudaLauncher(kernel, 0)((x, y, z), tensors)
    torch.cuda.synchronize()
    for buffer, tensor in zip(given, tensors, strict=True):
        if isinstance(buffer, Buffer):
            buffer.data.view(np.uint8)[:] = tensor.cpu().numpy()
    return values, source
