"""Kernels inside PyTorch: functions with gradients, and modules made of them.

PyTorch records which functions made a tensor, and asks them for gradients in reverse. It cannot look into a kernel, so
each function says what its gradient is. The gradient itself has no gradient: PyTorch refuses to differentiate twice.

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
        # Task 8.16: Keep for `backward` what it needs, p and the seed, as attributes of `ctx`. Given:
        # `dropout.dropout`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # Task 8.16: One gradient for each argument of `forward`, None for those that are not tensors. Dropout is
        # linear in x.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class LayerNormFunction(torch.autograd.Function):
    """`layer_norm` over the last axis, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        # Task 8.16: x has any number of axes, and any strides; `layer_norm.layer_norm` takes a contiguous matrix, and
        # returns out, mean and rstd. Tensors for `backward` go to `ctx.save_for_backward`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # Task 8.16: The gradient that comes in may have any strides. Given: `ctx.saved_tensors`,
        # `layer_norm.layer_norm_backward`, whose gradients are those of x, weight and bias.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class AttentionFunction(torch.autograd.Function):
    """`attention`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        # Task 8.16: As in `LayerNormFunction`. `flash_attention.attention` takes contiguous tensors, and returns out
        # and logsumexp.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # Task 8.16: `flash_attention.attention_backward` returns the gradients of q, k and v.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class Dropout(torch.nn.Module):
    """`torch.nn.Dropout`: drops nothing unless in training. Each call has a new seed, from torch's generator."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Task 8.16: When not `self.training`, x is returned as it is. The seed, from 0 to 2**31 - 1, comes from
        # PyTorch's generator, so that `torch.manual_seed` decides. A `Function` is called by its `apply`.
        raise NotImplementedError("Task 8.16: Kernels inside PyTorch")


class LayerNorm(torch.nn.Module):
    """`torch.nn.LayerNorm` over the last axis, of so many elements."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Task 8.16: `LayerNormFunction` of x and of this module's parameters.
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
        # Task 8.16: `self.qkv(x)` has, for each element of the sequence, the queries of all heads, then all keys, then
        # all values. Attention takes three tensors of shape (batch, heads, length, size // heads). The results of the
        # heads, one beside the other, go through `self.out`.
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
