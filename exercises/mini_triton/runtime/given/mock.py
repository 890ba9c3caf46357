"""Arguments for kernels that are compiled and not launched."""

from __future__ import annotations

from typing import Any

import numpy as np


class MockTensor:
    """Stands for memory of which only the dtype is known: `kernel.warmup(MockTensor(torch.float32), grid=(1,))`.

    Its address, 0, is a multiple of 16.
    """

    device = "cpu"

    def __init__(self, dtype: Any, shape: tuple[int, ...] = (1,)) -> None:
        self.dtype = dtype
        self.shape = shape

    def data_ptr(self) -> int:
        return 0


def mock(value: Any) -> Any:
    """An argument of a warmup: a dtype of NumPy's or PyTorch's stands for memory that holds such elements."""
    is_dtype = isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))
    is_torch_dtype = type(value).__module__ == "torch" and type(value).__name__ == "dtype"
    return MockTensor(value) if is_dtype or is_torch_dtype else value
