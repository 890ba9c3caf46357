"""Kernels inside PyTorch: functions with gradients, and modules made of them.

PyTorch records which functions made a tensor, and asks them for gradients in reverse. It cannot look into a kernel, so
each function says what its gradient is.

Source: PyTorch's notes "Extending PyTorch"; `torch.autograd.Function`.
"""

from __future__ import annotations

from typing import Any

import torch
from kernels import dropout, flash_attention, layer_norm


class DropoutFunction(torch.autograd.Function):
    """`dropout`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        ctx.arguments = p, seed
        return dropout.dropout(x, *ctx.arguments)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return dropout.dropout(*gradients, *ctx.arguments), None, None


class LayerNormFunction(torch.autograd.Function):
    """`layer_norm` over the last axis, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        ctx.shape = x.shape
        x = x.reshape(-1, weight.numel()).contiguous()
        y, mean, rstd = layer_norm.layer_norm(x, weight, bias, eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return y.view(ctx.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, *others = ctx.saved_tensors
        dx, *rest = layer_norm.layer_norm_backward(gradients[0].reshape_as(x).contiguous(), x, *others)
        return dx.view(ctx.shape), *rest, None


class AttentionFunction(torch.autograd.Function):
    """`attention`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        ctx.causal = causal
        qkv = [x.contiguous() for x in (q, k, v)]
        saved = flash_attention.attention(*qkv, causal)
        ctx.save_for_backward(*qkv, *saved)
        return saved[0]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        do = gradients[0].contiguous()
        return *flash_attention.attention_backward(do, *ctx.saved_tensors, ctx.causal), None


class Dropout(torch.nn.Module):
    """`torch.nn.Dropout`: drops nothing unless in training. Each call has a new seed, from torch's generator."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seed = int(torch.randint(0, 2**31, (1,)))
        return DropoutFunction.apply(x, self.p, seed) if self.training else x


class LayerNorm(torch.nn.Module):
    """`torch.nn.LayerNorm` over the last axis, of so many elements."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return LayerNormFunction.apply(x, *self.parameters(), self.eps)


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
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        return self.out(AttentionFunction.apply(q, k, v, self.causal).transpose(1, 2).flatten(2))


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
