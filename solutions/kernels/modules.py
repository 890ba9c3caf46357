"""Kernels inside PyTorch: functions with gradients, and modules made of them.

PyTorch records the functions that computed a tensor. For gradients, it calls their `backward` methods in reverse order.
PyTorch cannot look into a kernel, so each function defines its own gradient. These functions do not define gradients of
gradients, so PyTorch cannot differentiate them twice.

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
        # [task 8.16] Return the result of `dropout.dropout` (given), and keep what `backward` needs.
        ctx.p, ctx.seed = p, seed
        return dropout.dropout(x, p, seed)
        # [end]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # [task 8.16] `gradients` holds the gradient of the result. For each argument of `forward` after `ctx`, return
        # its gradient, or None if the argument is not a tensor.
        (dout,) = gradients
        return dropout.dropout(dout, ctx.p, ctx.seed), None, None
        # [end]


class LayerNormFunction(torch.autograd.Function):
    """`layer_norm` over the last axis, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        # [task 8.16] Return the normalized x, with the shape of x. x may have any number of axes and any strides;
        # `layer_norm.layer_norm` takes a contiguous matrix, and returns out, mean and rstd.
        rows = x.reshape(-1, x.shape[-1]).contiguous()
        out, mean, rstd = layer_norm.layer_norm(rows, weight, bias, eps)
        ctx.save_for_backward(rows, weight, mean, rstd)
        return out.view(x.shape)
        # [end]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # [task 8.16] Return one value for each argument of `forward`. The gradient of the result may have any strides.
        # `layer_norm.layer_norm_backward` returns the gradients of x, weight and bias.
        (dy,) = gradients
        rows, weight, mean, rstd = ctx.saved_tensors
        dy_rows = dy.reshape(rows.shape).contiguous()
        dx, dweight, dbias = layer_norm.layer_norm_backward(dy_rows, rows, weight, mean, rstd)
        return dx.view(dy.shape), dweight, dbias, None
        # [end]


class AttentionFunction(torch.autograd.Function):
    """`attention`, with its gradient."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        # [task 8.16] Return out, for q, k and v with any strides. `flash_attention.attention` takes contiguous tensors,
        # and returns out and logsumexp.
        q, k, v = (x.contiguous() for x in (q, k, v))
        out, logsumexp = flash_attention.attention(q, k, v, causal)
        ctx.save_for_backward(q, k, v, out, logsumexp)
        ctx.causal = causal
        return out
        # [end]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        # [task 8.16] Return one value for each argument of `forward`. `flash_attention.attention_backward` returns the
        # gradients of q, k and v.
        (dout,) = gradients
        q, k, v, out, logsumexp = ctx.saved_tensors
        dq, dk, dv = flash_attention.attention_backward(dout.contiguous(), q, k, v, out, logsumexp, ctx.causal)
        return dq, dk, dv, None
        # [end]


class Dropout(torch.nn.Module):
    """`torch.nn.Dropout`: drops elements only in training. Each call draws a new seed from PyTorch's generator."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # [task 8.16] Unless `self.training` is true, return x unchanged. Draw the seed, a number from 0 to 2**31 - 1,
        # from PyTorch's generator, so that `torch.manual_seed` determines it.
        if not self.training:
            return x
        return DropoutFunction.apply(x, self.p, torch.randint(2**31, ()).item())
        # [end]


class LayerNorm(torch.nn.Module):
    """`torch.nn.LayerNorm` over the last axis, which has `size` elements."""

    def __init__(self, size: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.bias = torch.nn.Parameter(torch.zeros(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # [task 8.16] Your kernels compute what `torch.nn.LayerNorm(size, eps)` computes, with these parameters.
        return LayerNormFunction.apply(x, self.weight, self.bias, self.eps)
        # [end]


class SelfAttention(torch.nn.Module):
    """Self-attention over sequences of shape (batch, length, size), with size // heads elements per head."""

    def __init__(self, size: int, heads: int, causal: bool = True) -> None:
        super().__init__()
        if size % heads:
            raise ValueError(f"size ({size}) must be a multiple of heads ({heads})")
        self.heads, self.causal = heads, causal
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.out = torch.nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # [task 8.16] With size 4 and 2 heads, the last axis of `self.qkv(x)` holds q0 q0 q1 q1 k0 k0 k1 k1 v0 v0 v1 v1,
        # where q1 stands for an element of the query of head 1. `AttentionFunction` takes three tensors of shape
        # (batch, heads, length, size // heads). The input of `self.out` holds the results of head 0, then of head 1.
        batch, length, size = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        result = AttentionFunction.apply(q, k, v, self.causal)
        return self.out(result.transpose(1, 2).reshape(batch, length, size))
        # [end]


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
        """Map a tensor of shape (batch, length, size) to one of the same shape."""
        x = x + self.attention(x)
        return x + self.network(x)


if __name__ == "__main__":
    from kernels import demo

    demo.run("modules")
