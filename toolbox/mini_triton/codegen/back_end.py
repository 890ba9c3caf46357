"""The NumPy back end, as the registry of back ends knows it. (Given.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mini_triton.codegen.kernel import NumpyKernel

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel


def load(kernel: CompiledKernel) -> NumpyKernel:
    """The generated code itself, which every kernel has."""
    return kernel.program
