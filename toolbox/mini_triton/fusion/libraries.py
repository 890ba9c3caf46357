"""What libraries do better than generated kernels, and what they do worse: decompositions that choose. (Given.)"""

from __future__ import annotations

import math
from typing import Any

import torch

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


def convolve(x: Any, weight: Any, bias: Any, *rest: Any) -> Any:
    """Compute `convolution`, but add the bias by a generated kernel on a GPU, where cuDNN uses another one, too."""
    if bias is None or x.device.type != "cuda":
        return NotImplemented
    return torch.ops.aten.convolution.default(x, weight, None, *rest) + bias.view(-1, *[1] * (x.ndim - 2))


def convolve_backward(gradient: Any, x: Any, weight: Any, sizes: Any, *rest: Any) -> Any:
    """Compute `convolution_backward`, but the gradient of the bias by a generated kernel, which is faster."""
    *how, (for_x, for_weight, for_bias) = rest
    if not for_bias:
        return NotImplemented
    wanted = [for_x, for_weight, False]
    results = torch.ops.aten.convolution_backward.default(gradient, x, weight, sizes, *how, wanted)
    return *results[:2], gradient.sum([0, *range(2, gradient.ndim)])
