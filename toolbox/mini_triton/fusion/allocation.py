"""Memory of programs, by the functions that Inductor's programs call: they take less time than PyTorch's. (Given.)

Source: `make_allocation` in PyTorch's `torch/_inductor/codegen/wrapper.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch._C._dynamo import guards

reinterpret_tensor = guards._reinterpret_tensor  # type: ignore[attr-defined]
"""`reinterpret_tensor(base, shape, strides, start)`: memory from element `start` of `base` on, in another layout."""


def empty_strided_cuda(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype, gpu: int) -> torch.Tensor:
    """Memory on a GPU."""
    if torch.cuda.current_device() == gpu:
        return guards._empty_strided_cuda(shape, strides, dtype)  # type: ignore[attr-defined]
    return torch.empty_strided(shape, strides, dtype=dtype, device=gpu)
