"""The back end for Numba on CPUs, as the registry of back ends knows it. (Given.)"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mini_triton.codegen.numba_gen.plan import Unsupported
from mini_triton.codegen.numba_gen.program import generate as generate_source
from mini_triton.environment import BOUNDS, SANITIZE
from mini_triton.ir.parser import parse_module
from mini_triton.runtime import cache, inspection
from mini_triton.transforms.manager import without_descriptors

if TYPE_CHECKING:
    from mini_triton.codegen.numba_gen.kernel import NumbaKernel
    from mini_triton.codegen.numba_gen.launcher import Repeat
    from mini_triton.runtime.compiled_kernel import CompiledKernel
    from mini_triton.runtime.pipeline import Compilation

NUMPY_RUNS = "# NumPy runs this kernel: "
"""The beginning of the text if Numba cannot run a kernel; the reason follows."""


def generate(ttir: str, _: Compilation) -> str:
    """The source of the function that runs a program; a comment with the reason if Numba cannot run the kernel."""
    try:
        return generate_source(without_descriptors(parse_module(ttir)))
    except Unsupported as reason:
        return f"{NUMPY_RUNS}Numba's loops do not support {reason}\n"


def load(kernel: CompiledKernel) -> Callable[..., None]:
    """The function that runs a grid with Numba, or with NumPy if Numba cannot run the kernel."""
    source = kernel.asm["numba"]
    tell = functools.partial(inspection.tell_back_end, kernel.name)
    if source.startswith(NUMPY_RUNS):
        tell(source.removeprefix(NUMPY_RUNS).strip())
        return kernel.program
    from mini_triton.codegen.numba_gen.kernel import NumbaKernel  # imported late: needs Numba
    from mini_triton.codegen.numba_gen.launcher import generate_repeat

    loops = NumbaKernel(source, kernel.program, cache.directory() / "numba" / kernel.hash, tell)
    if not loops.in_turn:
        repeat = generate_repeat(loops, kernel.parameters)
        kernel.launchers[kernel.CPU] = functools.partial(repeat_loops, kernel, loops, repeat)
    return loops


def repeat_loops(
    kernel: CompiledKernel, loops: NumbaKernel, repeat: Repeat, grid: tuple[int, int, int], arguments: Sequence[Any]
) -> bool:
    """Launch loops with tensors like those of an earlier launch; False if a full check is needed."""
    if os.environ.get(BOUNDS) or os.environ.get(SANITIZE):
        return False
    failed = repeat(grid, *arguments)
    if failed:  # launch again with the checks that explain errors
        again = copy.copy(kernel)
        again.run = functools.partial(loops.rerun, failed)
        again.launch(grid, dict(zip(kernel.parameters, arguments, strict=True)))
    return failed is not None
