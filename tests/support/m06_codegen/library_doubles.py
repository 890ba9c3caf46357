"""Stand-ins for the library that generated code calls, so that the code can be tested before there is a library.

exact = Exact()
x, out = run(text, (3,), [x, out], exact=exact)
exact.calls  # [("divsi", (x, y))]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mini_triton.codegen import compile_module
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.ir.parser import parse_module

from tests.support.m06_codegen.generated_errors import explained
from tests.support.m06_codegen.kernel_text import Grid


class Memory:
    """Loads and stores by indexing, of pointers that lead into one buffer; and what was asked for.

    What is stored must have the dtype of the memory, and every lane must be inside.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def load(self, buffer: Any, offset: Any, mask: Any = None, other: Any = None) -> Any:
        """The elements at these offsets; where the mask is false `other`, or 0."""
        self.calls.append(("load", (offset, mask, other)))
        index = self.index(buffer, offset, mask)
        if mask is None:
            return buffer.data[index]
        instead = buffer.data.dtype.type(0) if other is None else other
        result = np.where(mask, buffer.data[index], instead)
        return result.astype(buffer.data.dtype) if result.ndim else buffer.data.dtype.type(result[()])

    def store(self, buffer: Any, offset: Any, value: Any, mask: Any = None) -> None:
        """Write where the mask is true."""
        self.calls.append(("store", (offset, value, mask)))
        dtype = np.asarray(value).dtype
        assert dtype == buffer.data.dtype, f"a value of dtype {dtype} is stored in memory of {buffer.data.dtype}"
        index = self.index(buffer, offset, mask)
        chosen = np.broadcast_to(True if mask is None else mask, index.shape)
        buffer.data[index[chosen]] = np.broadcast_to(value, index.shape)[chosen]

    def index(self, buffer: Any, offset: Any, mask: Any) -> np.ndarray:
        """Where the lanes are; 0 where the mask is false."""
        index = np.asarray(offset) + buffer.origin
        assert index.dtype == np.int64, f"offsets are int64, for an array may be large; these are {index.dtype}"
        index = np.asarray(index if mask is None else np.where(mask, index, 0))
        inside = (index >= 0) & (index < buffer.data.size)
        assert inside.all(), f"{buffer.name} has {buffer.data.size} elements, but offsets are {np.asarray(offset)}"
        return index


class Exact:
    """A library of functions that only remember what they were called with; the result is the first operand's."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        def function(*arguments: Any) -> Any:
            self.calls.append((name, arguments))
            dtypes = [argument for argument in arguments if isinstance(argument, type)]
            first = next(argument for argument in arguments if not isinstance(argument, str))
            return first.astype(dtypes[0]) if dtypes else first

        return function


def run(text: str, grid: Grid, values: Sequence[Any], **library: Any) -> list[Any]:
    """The arguments after a kernel ran on copies of them, one program after the other, with another library."""
    __tracebackhide__ = True
    after = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    given = [Buffer.of(f"%{i}", x) if isinstance(x, np.ndarray) else x for i, x in enumerate(after)]
    with explained():
        kernel = compile_module(parse_module(text), "plain")
        kernel.function.__globals__.update({"memory": Memory()} | library)
        kernel(grid, given)
    return after
