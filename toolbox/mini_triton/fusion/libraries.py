"""What NVIDIA's libraries do better than generated kernels: cuBLAS multiplies large matrices. (Given.)"""

from __future__ import annotations

import math
from typing import Any

LARGE = 2**28


def is_large(*sizes: Any) -> bool:
    """Whether cuBLAS saves more time than fusing operators to a product of these sizes. Symbolic ones are not large."""
    return all(isinstance(size, int) for size in sizes) and math.prod(sizes) >= LARGE


def add_product(added: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Compute `addmm` or `baddbmm`. PyTorch's decomposition widens 16-bit operands, which rules out tensor cores."""
    if a.ndim == 2 and a.device.type == "cuda" and is_large(*a.shape, b.shape[1]):
        return NotImplemented
    product = a @ b if alpha == 1 else (a @ b) * alpha
    return product if beta == 0 else product + (added if beta == 1 else added * beta)
