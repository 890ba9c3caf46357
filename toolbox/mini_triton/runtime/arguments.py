"""Arguments as kernels see them: memory, numbers, tensor descriptors, and compile-time values. (Given.)

NumPy arrays are recognized by class. This module never imports PyTorch: as in real Triton, anything with a `data_ptr()`
and a `dtype` is a pointer.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from mini_triton.formats import FORMATS

OF_NUMPY = {np.dtype(row.array if row.native else getattr(ml_dtypes, row.array)): row.signature for row in FORMATS}
OF_TORCH = {f"torch.{row.array}": row.signature for row in FORMATS}
OF_LANGUAGE = {row.name: row.signature for row in FORMATS}
"""How a launch spells the element types of NumPy, of PyTorch and of reinterpreted memory."""


def is_memory(value: Any) -> bool:
    """Whether an argument is memory, to which a kernel takes a pointer."""
    return isinstance(value, np.ndarray) or (hasattr(value, "data_ptr") and hasattr(value, "dtype"))


@functools.cache
def element_type(dtype: Any) -> str | None:
    """How a launch spells a dtype of NumPy, PyTorch or the language; None if the language has no such type."""
    name = str(dtype)
    if type(dtype).__module__.startswith("mini_triton."):
        return OF_LANGUAGE[name]
    return OF_TORCH.get(name) if name.startswith("torch.") else OF_NUMPY.get(np.dtype(dtype))  # only native byte order


def address(memory: Any) -> int:
    """The address of the first element of an array or a tensor."""
    return memory.ctypes.data if isinstance(memory, np.ndarray) else memory.data_ptr()


def device_of(memory: Any) -> str:
    """The device of an array or a tensor: `cpu`, `cuda:0`, ..."""
    return str(getattr(memory, "device", "cpu"))


def is_descriptor(value: Any) -> bool:
    """Whether an argument is a tensor descriptor, ours or Triton's."""
    return hasattr(value, "base") and hasattr(value, "block_shape")


def parts_of(descriptor: Any) -> dict[str, Any]:
    """The arguments that compiled code takes for a descriptor."""
    shape = {f"shape.{axis}": int(size) for axis, size in enumerate(descriptor.shape)}
    strides = {f"strides.{axis}": int(stride) for axis, stride in enumerate(descriptor.strides)}
    return {"base": descriptor.base, **shape, **strides}


def with_parts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, and the parts of the descriptors among them."""
    descriptors = {name: value for name, value in values.items() if is_descriptor(value)}
    parts = {f"{name}.{part}": x for name, value in descriptors.items() for part, x in parts_of(value).items()}
    return {**values, **parts}


def to_python(value: Any) -> Any:
    """A NumPy scalar as the equal Python number; any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


class MockTensor:
    """A placeholder for memory of which only the dtype is known: `kernel.warmup(MockTensor(torch.float32), grid=(1,))`.

    Its address, 0, is a multiple of 16.
    """

    device = "cpu"

    def __init__(self, dtype: Any, shape: tuple[int, ...] = (1,)) -> None:
        self.dtype = dtype
        self.shape = shape

    def data_ptr(self) -> int:
        return 0


def mock(value: Any) -> Any:
    """An argument of a warmup: a NumPy or PyTorch dtype represents memory with elements of this dtype."""
    is_dtype = isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))
    is_torch_dtype = type(value).__module__ == "torch" and type(value).__name__ == "dtype"
    return MockTensor(value) if is_dtype or is_torch_dtype else value
