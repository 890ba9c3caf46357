"""Memory of programs, by the functions that Inductor's programs call: they take less time than PyTorch's. (Given.)

Source: `make_allocation` in PyTorch's `torch/_inductor/codegen/wrapper.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._C._dynamo import guards

private: Any = guards  # PyTorch declares only the functions that users may call
reinterpret_tensor = private._reinterpret_tensor
"""`reinterpret_tensor(base, shape, strides, start)`: memory from element `start` of `base` on, in another layout."""


def empty_strided_cuda(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype, gpu: int) -> torch.Tensor:
    """Memory on a GPU."""
    if torch.cuda.current_device() == gpu:
        return private._empty_strided_cuda(shape, strides, dtype)
    return torch.empty_strided(shape, strides, dtype=dtype, device=gpu)
