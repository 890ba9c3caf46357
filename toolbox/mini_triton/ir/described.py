"""Memory that is neither a NumPy array nor a PyTorch tensor: any object that describes memory as a tensor does.

Libraries pass such objects to kernels to describe what PyTorch cannot, for example negative strides. As in real Triton,
an object with a `data_ptr()` and a `dtype` is memory. On a CPU, a launch also needs the object's `shape`, and its
`stride()` unless it is contiguous, because every access is checked.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np


class Described:
    """The memory behind an object, with what a launch uses of a tensor. Raises `TypeError` if there is none."""

    def __init__(self, memory: Any) -> None:
        if not (hasattr(memory, "data_ptr") and hasattr(memory, "dtype")):
            raise TypeError(f"{memory!r} is not memory: pass a NumPy array or a PyTorch tensor")
        self.memory = memory
        self.dtype = memory.dtype
        self.device = str(getattr(memory, "device", "cpu"))
        self.is_cuda = self.device.startswith("cuda")

    @property
    def shape(self) -> tuple[int, ...]:
        if not hasattr(self.memory, "shape"):
            kind = type(self.memory).__name__
            raise TypeError(f"a kernel on the CPU needs the shape of its memory, and this {kind} does not have a shape")
        return tuple(self.memory.shape)

    def stride(self) -> tuple[int, ...]:
        """The distance between neighbors along each axis, in elements."""
        if hasattr(self.memory, "stride"):
            return tuple(self.memory.stride())
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    def data_ptr(self) -> int:
        return self.memory.data_ptr()

    def get_device(self) -> int:
        """The number of the GPU, or -1 on the CPU."""
        return int(self.device.partition(":")[2] or 0) if self.is_cuda else -1

    def numpy(self, dtype: np.dtype) -> np.ndarray:
        """The memory on the CPU as an array with elements of this dtype, which keeps the object alive."""
        interface = {
            "shape": self.shape,
            "strides": tuple(step * dtype.itemsize for step in self.stride()),
            "typestr": f"<i{dtype.itemsize}",
            "data": (self.data_ptr(), False),
            "version": 3,
        }
        owner = SimpleNamespace(memory=self.memory, __array_interface__=interface)
        return np.asarray(owner).view(dtype)


def describe(memory: Any) -> Any:
    """An array or a tensor itself, also a reinterpreted one; the `Described` memory behind any other object."""
    is_tensor = hasattr(memory, "detach") or hasattr(memory, "get_device")
    return memory if is_tensor or isinstance(memory, np.ndarray) else Described(memory)
