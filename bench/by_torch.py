"""The workloads in PyTorch on the CPU, by its own functions where it has them. Imports torch.

A function takes the arguments of a kernel, and returns its outputs.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F


def vector_add(x: Any, y: Any, out: Any, **_: Any) -> tuple[Any, ...]:
    return (torch.add(x, y, out=out),)


def softmax(x: Any, out: Any, **_: Any) -> tuple[Any, ...]:
    return (torch.softmax(x, 1, out=out),)


def matmul(a: Any, b: Any, c: Any, **_: Any) -> tuple[Any, ...]:
    return (torch.matmul(a, b, out=c),)


def layer_norm(x: Any, weight: Any, bias: Any, eps: float, **_: Any) -> tuple[Any, ...]:
    out, mean, rstd = torch.native_layer_norm(x, weight.shape, weight, bias, eps)
    return out, mean[:, 0], rstd[:, 0]


def attention(q: Any, k: Any, v: Any, scale: float, causal: bool = False, **_: Any) -> tuple[Any, ...]:
    return (F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal, scale=scale)[0],)


def causal_attention(**arguments: Any) -> tuple[Any, ...]:
    return attention(causal=True, **arguments)


def conv2d(x: Any, w: Any, padding: int, stride: int, **_: Any) -> tuple[Any, ...]:
    return (F.conv2d(x, w, stride=stride, padding=padding),)


def rms_norm(x: Any, weight: Any, eps: float, **_: Any) -> tuple[Any, ...]:
    return (F.rms_norm(x, weight.shape, weight, eps),)


def group_norm(x: Any, eps: float, **_: Any) -> tuple[Any, ...]:
    return (F.layer_norm(x, x.shape[1:], eps=eps),)


def adam(p: Any, g: Any, m: Any, v: Any, rate: float, step: float, **_: Any) -> tuple[Any, ...]:
    m.lerp_(g, 0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m, (v / (1 - 0.999**step)).sqrt_().add_(1e-8), value=-rate)
    return p, m, v


def rotary(x: Any, cosines: Any, sines: Any, **_: Any) -> tuple[Any, ...]:
    turned = torch.view_as_complex(x) * torch.complex(cosines, sines)
    return (torch.view_as_real(turned),)


def gather_rows(table: Any, ids: Any, **_: Any) -> tuple[Any, ...]:
    return (F.embedding(ids, table).masked_fill_((ids == 0)[:, None], 0),)
