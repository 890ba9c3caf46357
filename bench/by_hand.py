"""The workloads in plain NumPy, as one writes them without a kernel: all rows, heads, images at once.

A function takes the arguments of a kernel, and returns its outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def vector_add(x: Array, y: Array, out: Array, **_: Any) -> tuple[Array, ...]:
    return (np.add(x, y, out=out),)


def softmax(x: Array, **_: Any) -> tuple[Array, ...]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return (powers,)


def matmul(a: Array, b: Array, c: Array, **_: Any) -> tuple[Array, ...]:
    if c.dtype == np.float32:
        return (np.matmul(a, b, out=c),)
    return (np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(c.dtype),)


def layer_norm(x: Array, weight: Array, bias: Array, eps: float, **_: Any) -> tuple[Array, ...]:
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    rstd = 1 / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + np.float32(eps))
    centred *= rstd
    centred *= weight
    centred += bias
    return centred, mean[:, 0], rstd[:, 0]


def attention(q: Array, k: Array, v: Array, scale: float, causal: bool = False, **_: Any) -> tuple[Array, ...]:
    wide = [x.astype(np.float32, copy=False) for x in (q, k, v)]
    scores = np.matmul(wide[0], wide[1].transpose(0, 2, 1))
    scores *= np.float32(scale)
    if causal:
        scores[:, np.tri(*scores.shape[1:]) == 0] = -np.inf
    (weights,) = softmax(scores.reshape(-1, scores.shape[-1]))
    return (np.matmul(weights.reshape(scores.shape), wide[2]).astype(q.dtype, copy=False),)


def causal_attention(**arguments: Any) -> tuple[Array, ...]:
    return attention(causal=True, **arguments)


def conv2d(x: Array, w: Array, padding: int, stride: int, **_: Any) -> tuple[Array, ...]:
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return (np.tensordot(windows, w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2),)


def rms_norm(x: Array, weight: Array, eps: float, **_: Any) -> tuple[Array, ...]:
    scale = 1 / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + np.float32(eps))
    return (x * scale * weight,)


def group_norm(x: Array, eps: float, **_: Any) -> tuple[Array, ...]:
    centred = x - x.mean(axis=1, keepdims=True)
    centred /= np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + np.float32(eps))
    return (centred,)


def adam(p: Array, g: Array, m: Array, v: Array, rate: float, step: float, **_: Any) -> tuple[Array, ...]:
    m *= 0.9
    m += np.float32(0.1) * g
    v *= 0.999
    v += np.float32(0.001) * g * g
    p -= rate * m / (np.sqrt(v / np.float32(1 - 0.999**step)) + 1e-8)
    return p, m, v


def rotary(x: Array, cosines: Array, sines: Array, out: Array, **_: Any) -> tuple[Array, ...]:
    left, right = x[..., 0], x[..., 1]
    out[..., 0] = left * cosines - right * sines
    out[..., 1] = left * sines + right * cosines
    return (out,)


def gather_rows(table: Array, ids: Array, **_: Any) -> tuple[Array, ...]:
    result = table[ids]
    result[ids == 0] = 0
    return (result,)
