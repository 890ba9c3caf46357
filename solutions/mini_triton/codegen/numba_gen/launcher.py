"""A launch of loops with PyTorch's tensors as they are, by a function that is generated for each kernel.

A small kernel runs for less than a tenth of a millisecond, and Python would take a quarter of that to examine arguments
of any kind. The function examines these arguments only:

    def repeat(_grid, x, out, n):
        _x, _out = x.data_ptr(), out.data_ptr()
        _end_x, _end_out = _x + x.nbytes, _out + out.nbytes
        if not (x.is_contiguous() and out.is_contiguous()) or (_out < _end_x and _x < _end_out):
            return None
        values = [_memory_at(_x, _end_x, _dtype_x), _memory_at(_out, _end_out, _dtype_out), _held_n(n)]
        return _run(_grid, values)

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
"""`repeat(grid, *arguments)` runs all programs, and returns the numbers of those that were given up.

None means that an argument needs a closer look, and that nothing has run.
"""


def generate_repeat(kernel: NumbaKernel, parameters: Sequence[str]) -> Repeat:
    """The function for a kernel with these parameters, whose programs run in parallel."""
    scope: dict[str, Any] = {"_run": kernel.run_in_parallel, "_memory_at": memory_at}
    tensors, values = [], []
    rows = zip(parameters, kernel.plain.types, kernel.dtypes, kernel.plain.dtypes, strict=True)
    for name, type, dtype, exact in rows:
        if isinstance(type, PointerType):
            tensors.append(name)
            values.append(f"_memory_at(_{name}, _end_{name}, _dtype_{name})")
            scope[f"_dtype_{name}"] = dtype
        else:
            rounded = name if dtype == exact else f"_exact_{name}({name})"
            values.append(f"_held_{name}({rounded})")
            scope |= {f"_held_{name}": dtype.type, f"_exact_{name}": exact.type}
    stored = kernel.plain.stored
    pairs = [(one, other) for one in stored for other in tensors if one != other]
    doubts = [f"not ({' and '.join(f'{name}.is_contiguous()' for name in tensors)})"]
    doubts += [f"(_{one} < _end_{other} and _{other} < _end_{one})" for one, other in pairs]
    source = f"""\
def repeat(_grid, {", ".join(parameters)}):
    {", ".join(f"_{name}" for name in tensors)} = {", ".join(f"{name}.data_ptr()" for name in tensors)}
    {", ".join(f"_end_{name}" for name in tensors)} = {", ".join(f"_{name} + {name}.nbytes" for name in tensors)}
    if {" or ".join(doubts)}:
        return None
    try:
        values = [{", ".join(values)}]
    except OverflowError:
        return None
    return _run(_grid, values)
"""
    exec(compile(source, "<repeat>", "exec"), scope)
    return scope["repeat"]


@functools.lru_cache(2**10)
def memory_at(start: int, end: int, dtype: np.dtype) -> np.ndarray:
    """Memory between two addresses as an array, which does not keep it alive: use it while something else does.

    It costs less than PyTorch's `numpy()`, and nothing at all the next time.
    """
    size = end - start
    return np.ndarray(size // dtype.itemsize, dtype, memoryview((ctypes.c_char * size).from_address(start)))
