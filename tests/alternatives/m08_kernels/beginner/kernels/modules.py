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
        result = dropout.dropout(x, p, seed)
        ctx.p = p
        ctx.seed = seed
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        gradient = gradients[0]
        dx = dropout.dropout(gradient.contiguous(), ctx.p, ctx.seed)
        return dx, None, None


class LayerNormFunction(torch.autograd.Function):
    """`layer_norm` over the last axis, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        size = x.shape[-1]
        matrix = x.contiguous().view(x.numel() // size, size)
        result, mean, rstd = layer_norm.layer_norm(matrix, weight.contiguous(), bias.contiguous(), eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return result.reshape(x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, weight, mean, rstd = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        size = x.shape[-1]
        rows = x.numel() // size
        dx, dweight, dbias = layer_norm.layer_norm_backward(
            gradient.view(rows, size), x.contiguous().view(rows, size), weight.contiguous(), mean, rstd
        )
        return dx.reshape(x.shape), dweight, dbias, None


class AttentionFunction(torch.autograd.Function):
    """`attention`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        q = q.contiguous()
        k = k.contiguous()
        v = v.contiguous()
        result, logsumexp = flash_attention.attention(q, k, v, causal=causal)
        ctx.save_for_backward(q, k, v, result, logsumexp)
        ctx.causal = causal
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        q, k, v, result, logsumexp = ctx.saved_tensors
        dout = gradients[0].contiguous()
        dq, dk, dv = flash_attention.attention_backward(dout, q, k, v, result, logsumexp, causal=ctx.causal)
        return dq, dk, dv, None


class Dropout(torch.nn.Module):
    """`torch.nn.Dropout`: drops nothing unless in training. Each call has a new seed, from torch's generator."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            seed = torch.randint(0, 2**31 - 1, (1,)).item()
            return DropoutFunction.apply(x, self.p, seed)
        else:
            return x


class LayerNorm(torch.nn.Module):
    """`torch.nn.LayerNorm` over the last axis, of so many elements."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = LayerNormFunction.apply(x, self.weight, self.bias, self.eps)
        return result


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
        batch, length, size = x.shape
        head_size = size // self.heads
        q, k, v = self.qkv(x).chunk(3, dim=2)
        q = q.reshape(batch, length, self.heads, head_size).transpose(1, 2)
        k = k.reshape(batch, length, self.heads, head_size).transpose(1, 2)
        v = v.reshape(batch, length, self.heads, head_size).transpose(1, 2)
        result = AttentionFunction.apply(q, k, v, self.causal)
        side_by_side = result.transpose(1, 2).contiguous().view(batch, length, size)
        return self.out(side_by_side)


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
