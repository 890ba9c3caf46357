"""Launching a kernel that Numba compiled, directly with PyTorch's tensors, by a function generated for the kernel.

A small kernel runs for less than a tenth of a millisecond, and Python would take a quarter of this time to examine
arguments of any kind. The generated function examines only arguments of the kinds that its kernel takes:

    def repeat(grid, a0, a1, a2):
        start0 = a0.data_ptr(); end0 = start0 + a0.nbytes; start1 = a1.data_ptr(); end1 = start1 + a1.nbytes
        if not a0.is_contiguous() or not a1.is_contiguous() or (start1 < end0 and start0 < end1):
            return None
        values = [memory_at(start0, end0, "float32"), memory_at(start1, end1, "float32"), held2(a2)]
        return [*run(grid, values)]

(Given.) Source: `make_launcher` in Triton's `third_party/nvidia/backend/driver.py`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mini_triton.codegen.numba_gen.kernel import NumbaKernel
from mini_triton.ir.types import PointerType

Repeat = Callable[..., list[int] | None]
"""`repeat(grid, *arguments)` runs all programs, and returns the numbers of the programs that gave up.

None means that an argument needs a closer look, and that nothing has run.
"""


def generate_repeat(kernel: NumbaKernel, parameters: Sequence[str]) -> Repeat:
    """The function for a kernel with these parameters, whose programs run in parallel."""
    scope: dict[str, Any] = {"run": kernel.run, "memory_at": memory_at}
    tensors, values = [], []
    for i, (type, dtype, exact) in enumerate(zip(kernel.plain.types, kernel.dtypes, kernel.plain.dtypes, strict=True)):
        if isinstance(type, PointerType):
            tensors.append(i)
            values.append(f"memory_at(start{i}, end{i}, {dtype.name!r})")
        else:
            rounded = f"a{i}" if dtype == exact else f"exact{i}(a{i})"
            values.append(f"held{i}({rounded})")
            scope |= {f"held{i}": dtype.type, f"exact{i}": exact.type}
    spans = [f"start{i} = a{i}.data_ptr(); end{i} = start{i} + a{i}.nbytes" for i in tensors]
    stored = [i for i in tensors if parameters[i] in kernel.plain.stored]
    doubts = [f"not a{i}.is_contiguous()" for i in tensors]
    doubts += [f"(start{i} < end{j} and start{j} < end{i})" for i in stored for j in tensors if i != j]
    source = f"""\
def repeat(grid, {", ".join(f"a{i}" for i in range(len(values)))}):
    {"; ".join(spans)}
    if {" or ".join(doubts) or "False"}:
        return None
    try:
        values = [{", ".join(values)}]
    except OverflowError:
        return None
    return [*run(grid, values)]
"""
    exec(compile(source, "<repeat>", "exec"), scope)
    return scope["repeat"]


@functools.lru_cache(2**10)
def memory_at(start: int, end: int, dtype: str) -> np.ndarray:
    """Memory between two addresses, as an array. The array does not keep the memory alive.

    A call takes less time than PyTorch's `numpy()`, and the result is cached.
    """
    memory = (ctypes.c_char * (end - start)).from_address(start)
    return np.ndarray((end - start) // np.dtype(dtype).itemsize, dtype, memoryview(memory))
