"""Kernels inside PyTorch: functions with gradients, and modules made of them.

PyTorch records which functions made a tensor, and asks them for gradients in reverse. It cannot look into a kernel, so
each function says what its gradient is. That has none of its own: PyTorch refuses to take it twice.

Source: PyTorch's notes "Extending PyTorch"; `torch.autograd.Function`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from kernels import dropout, flash_attention, layer_norm


class DropoutFunction(torch.autograd.Function):
    """`dropout`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        # Task 8.16: What is no tensor is kept as an attribute of `ctx`. No mask is kept: the seed is the mask.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # Task 8.16: One gradient for each argument of `forward`: None for what is no tensor. Dropout is linear in x.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class LayerNormFunction(torch.autograd.Function):
    """`layer_norm` over the last axis, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        # Task 8.16: The kernel wants a contiguous matrix; x has any number of axes, and any strides. Tensors that the
        # backward pass needs go to `ctx.save_for_backward`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # Task 8.16: They are in `ctx.saved_tensors`. The gradient that comes in may have any strides.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class AttentionFunction(torch.autograd.Function):
    """`attention`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        # Task 8.16: As in `LayerNormFunction`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # Task 8.16: The kernels give all three gradients at once.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class Dropout(torch.nn.Module):
    """`torch.nn.Dropout`: drops nothing unless in training. Each call has a new seed, from torch's generator."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Task 8.16: `torch.randint` draws a seed, `.item()` makes it an int. A `Function` is called by its `apply`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class LayerNorm(torch.nn.Module):
    """`torch.nn.LayerNorm` over the last axis, of so many elements."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Task 8.16: As in `Dropout`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class SelfAttention(torch.nn.Module):
    """Attention of a sequence (batch, length, size) to itself, by several heads of size / heads each."""

    def __init__(self, size: int, heads: int, causal: bool = True) -> None:
        super().__init__()
        if size % heads:
            raise ValueError(f"size ({size}) must be a multiple of heads ({heads})")
        self.heads, self.causal = heads, causal
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.out = torch.nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Task 8.16: `qkv` gives the queries of all heads, then all keys, then all values: make three tensors of shape
        # (batch, heads, length, size / heads) of it. The results of the heads, one beside the other, go through `out`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class TransformerBlock(torch.nn.Module):
    """A layer of GPT-2: attention, then a network for each element of the sequence, both added to their input. (Given.)

    Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019).
    """

    def __init__(self, size: int, heads: int, p: float = 0.1) -> None:
        super().__init__()
        self.attention = torch.nn.Sequential(LayerNorm(size), SelfAttention(size, heads), Dropout(p))
        up, down = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)
        self.network = torch.nn.Sequential(LayerNorm(size), up, torch.nn.GELU(), down, Dropout(p))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, length, size) to the same."""
        x = x + self.attention(x)
        return x + self.network(x)
