"""The back end for Numba on GPUs, as the registry of back ends knows it. (Given.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.cuda_gen.kernel import CudaKernel, CudaLauncher
from mini_triton.codegen.cuda_gen.program import generate as generate_source
from mini_triton.codegen.cuda_gen.program import unsupported
from mini_triton.ir.parser import parse_module
from mini_triton.runtime import cache

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel
    from mini_triton.runtime.pipeline import Compilation


def generate(ttir: str, compilation: Compilation) -> str:
    """The source of the function that one thread runs. Raises `RuntimeError` for a kernel that this cannot run."""
    warps, fused = compilation.options.num_warps, compilation.options.enable_fp_fusion
    if reasons := unsupported(parse_module(ttir), warps):
        raise RuntimeError(f"the back end numba_cuda cannot run {compilation.name}: {'; '.join(reasons)}")
    return generate_source(parse_module(ttir), warps, fused)


def load(kernel: CompiledKernel) -> CudaKernel:
    """The function that runs a grid in Numba's simulator."""
    folder = cache.directory() / "numba_cuda" / kernel.hash
    return CudaKernel(kernel.generated("numba_cuda"), kernel.program.types, folder)


def launcher(kernel: CompiledKernel, gpu: int) -> CudaLauncher:
    """The function that runs a grid on a GPU."""
    return CudaLauncher(load(kernel), gpu)
