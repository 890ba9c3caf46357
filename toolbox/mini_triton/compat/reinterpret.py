"""Memory as elements of a different dtype: `triton.reinterpret(x, tl.float8e5)`.

Older libraries keep 8-bit floats in arrays of int8, because NumPy and PyTorch had no such dtype.

Source: `TensorWrapper` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mini_triton.ir.storage import as_numpy, numpy_dtype
from mini_triton.language.dtypes import dtype


class TensorWrapper:
    """An array or a tensor whose elements are read as a different dtype of the language."""

    def __init__(self, base: Any, dtype: dtype) -> None:
        self.base = base
        self.dtype = dtype

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"

    def __getattr__(self, name: str) -> Any:
        """Everything except the dtype is unchanged: shape, strides, device."""
        return getattr(self.base, name)

    def data_ptr(self) -> int:
        return self.base.ctypes.data if isinstance(self.base, np.ndarray) else self.base.data_ptr()

    def numpy(self) -> np.ndarray:
        """The same memory as an array of the new dtype."""
        return as_numpy(self.base).view(numpy_dtype(self.dtype.ir_type))

    def detach(self) -> TensorWrapper:
        return self

    def clone(self) -> TensorWrapper:
        return TensorWrapper(self.base.clone(), self.dtype)

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        self.base.copy_(other.base)


def reinterpret(tensor: Any, dtype: dtype) -> Any:
    """An array, a tensor or a `TensorWrapper`, read as elements of `dtype`, without a copy.

    The size of the elements must not change. The result is the wrapped memory itself if that has this dtype. Raises
    `TypeError` for anything but memory.
    """
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if isinstance(tensor, TensorWrapper) and dtype == base.dtype:
        return base
    if not isinstance(base, np.ndarray) and not hasattr(base, "data_ptr"):
        raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
    return TensorWrapper(base, dtype)
