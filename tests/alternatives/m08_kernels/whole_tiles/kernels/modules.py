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
        out = dropout.dropout(x, p, seed)
        ctx.again = lambda gradient: dropout.dropout(gradient, p, seed)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return ctx.again(gradients[0]), *[None] * 2


class LayerNormFunction(torch.autograd.Function):
    """`layer_norm` over the last axis, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        out, mean, rstd = layer_norm.layer_norm(x.reshape(-1, bias.shape[0]).contiguous(), weight, bias, eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return out.reshape(x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, weight, mean, rstd = ctx.saved_tensors
        dy, rows = (part.reshape(mean.shape[0], -1).contiguous() for part in (gradients[0], x))
        dx, dweight, dbias = layer_norm.layer_norm_backward(dy, rows, weight, mean, rstd)
        return dx.reshape(x.shape), dweight, dbias, None


class AttentionFunction(torch.autograd.Function):
    """`attention`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        ctx.causal = causal
        out, logsumexp = flash_attention.attention(q.contiguous(), k.contiguous(), v.contiguous(), causal)
        ctx.save_for_backward(q, k, v, out, logsumexp)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        q, k, v, *kept = ctx.saved_tensors
        arrays = [x.contiguous() for x in (*gradients, q, k, v)]
        return *flash_attention.attention_backward(*arrays, *kept, causal=ctx.causal), None


class Dropout(torch.nn.Module):
    """`torch.nn.Dropout`: drops nothing unless in training. Each call has a new seed, from torch's generator."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return DropoutFunction.apply(x, self.p, torch.randint(2**63 - 1, ()).item()) if self.training else x


class LayerNorm(torch.nn.Module):
    """`torch.nn.LayerNorm` over the last axis, of so many elements."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return LayerNormFunction.apply(x, self.weight, self.bias, self.eps)


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
        def heads_of(rows: torch.Tensor) -> torch.Tensor:
            return rows.view(*rows.shape[:2], self.heads, -1).transpose(1, 2)

        q, k, v = map(heads_of, self.qkv(x).split(x.shape[2], dim=2))
        result = AttentionFunction.apply(q, k, v, self.causal)
        return self.out(torch.cat(result.unbind(1), dim=2))


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
