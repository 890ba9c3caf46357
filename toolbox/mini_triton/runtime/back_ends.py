"""The registry of back ends: what may run a kernel instead of the default. (Given.)

A back end is a package with a module `back_end`, and a row of `BACK_ENDS`. The module defines

    generate(ttir, compilation)   the back end's code, for the module's text, if the back end has a stage in `STAGES`
    load(kernel)                  the function that runs a grid on a CPU's memory: `run(grid, arguments, reachable)`
    launcher(kernel, gpu)         the function that runs a grid on a GPU; without it, real Triton's machine code runs

Source: the registry of back ends in Triton's `python/triton/backends/__init__.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mini_triton.runtime.compiled_kernel import CompiledKernel
    from mini_triton.runtime.pipeline import Compilation


@dataclass(frozen=True)
class BackEnd:
    """One back end."""

    package: str

    @property
    def module(self) -> ModuleType:
        """The package's module `back_end`, imported when it is first needed: most kernels run without it."""
        return importlib.import_module(f"{self.package}.back_end")

    def generate(self, ttir: str, compilation: Compilation) -> Any:
        """Generate code from the module's text."""
        return self.module.generate(ttir, compilation)

    def load(self, kernel: CompiledKernel) -> Callable[..., None]:
        """The function that runs a grid of a kernel on a CPU's memory."""
        return self.module.load(kernel)

    def launcher(self, kernel: CompiledKernel, gpu: int) -> Callable[..., None]:
        """The function that runs a grid of a kernel on a GPU."""
        from mini_triton.backends import launch

        if hasattr(self.module, "launcher"):
            return self.module.launcher(kernel, gpu)
        return launch.Launcher(kernel.lower(f"sm_{launch.capability_here(gpu)}"), gpu)


BACK_ENDS = {
    "numpy": BackEnd("mini_triton.codegen"),
    "numba": BackEnd("mini_triton.codegen.numba_gen"),
    "emulator": BackEnd("mini_triton.emulator"),
    "ptx": BackEnd("mini_triton.backends.threads"),
}
"""The back ends by name. NumPy's code also finds the cause when a program of another back end gives up."""
