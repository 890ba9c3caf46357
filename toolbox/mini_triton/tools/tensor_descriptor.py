"""Tensor descriptors that the host creates and passes to kernels. (Given.)

    rows = TensorDescriptor.from_tensor(x, block_shape=[16, 64])
    kernel[grid](rows)

Source: Triton's `python/triton/tools/tensor_descriptor.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.ir.types import F32, TensorType
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor_descriptor import MOST_DIMENSIONS
from mini_triton.runtime.arguments import address, element_type

ALIGNMENT = 16
"""The alignment in bytes of the address, and of all strides except the last."""


@dataclass
class TensorDescriptor:
    """An array or a tensor, `base`, from which a kernel loads blocks. Shape and strides are in elements.

    `padding` is the value of out-of-bounds loads: "zero" or "nan". Raises `AssertionError`, with Triton's message, for
    descriptors that GPUs do not support.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False  # GPUs may round elements; we keep all bits

    def __post_init__(self) -> None:
        rank = len(self.shape)
        assert len(self.strides) == rank, f"rank mismatch: {self}"
        assert len(self.block_shape) == rank, f"rank mismatch: {self}"
        assert rank > 0, "rank must not be zero"
        assert rank <= MOST_DIMENSIONS, "rank cannot be more than 5"
        assert address(self.base) % ALIGNMENT == 0, "base must be 16-byte aligned"
        TensorType(tuple(self.block_shape), F32)  # checks the shape
        for stride in self.strides[:-1]:
            assert stride * self.base.itemsize % ALIGNMENT == 0, "strides must be 16-byte aligned"
        assert all(size > 0 for size in self.shape), "shape must be positive"
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        assert self.padding in ("zero", "nan"), "Illegal value for padding"
        element = parse_type(str(element_type(self.base.dtype)))
        if self.padding == "nan":
            assert element.is_floating(), "Padding option `nan` is only supported for floating point tensors"
        if self.round_f32_to_tf32:
            assert element.name == "fp32", "round_f32_to_tf32 is only supported for float32 tensors"

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: Sequence[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole array or tensor."""
        if isinstance(tensor, np.ndarray):
            strides = [stride // tensor.itemsize for stride in tensor.strides]
        else:
            strides = tensor.stride()
        return TensorDescriptor(tensor, tensor.shape, strides, block_shape, padding, round_f32_to_tf32)


def set_allocator(allocator: Callable[[int, int, int | None], Any]) -> None:
    """Do nothing: PyTorch provides the memory in which kernels for GPUs make descriptors."""
