"""Softmax of rows, and the loss that goes with it."""

import triton
import triton.language as tl


@triton.jit
def softmax_row(out, x, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def cross_entropy(loss, gradient, logits, labels, columns, smoothing, BLOCK: tl.constexpr, GRADIENT: tl.constexpr):
    """The loss of a row of logits, and its gradient on demand."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    values = tl.load(logits + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    highest = tl.max(values, 0)
    normal = highest + tl.log(tl.sum(tl.exp(values - highest), 0))
    mean = tl.sum(tl.where(at < columns, values, 0.0), 0) / columns
    target = tl.load(logits + row * columns + label).to(tl.float32)
    if label >= 0:
        result = normal - (1 - smoothing) * target - smoothing * mean
    else:
        result = 0.0
    tl.store(loss + row, result)
    if GRADIENT:
        share = tl.exp(values - normal) - smoothing / columns
        share = tl.where(at == label, share - (1 - smoothing), share)
        tl.store(gradient + row * columns + at, share if label >= 0 else share * 0.0, mask=at < columns)
