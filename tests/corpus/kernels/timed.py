"""Kernels of large tensors that move each byte about once, for times beside real Triton's: `bench/threads.py`."""

import triton
import triton.language as tl


@triton.jit
def dropout(out, x, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, values / (1 - p), 0.0), mask=at < n)


@triton.jit
def layer_norm_backward(dx, dw, db, dy, x, weight, mean, rstd, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The gradients of ROWS rows, and their sums for the gradients of weight and bias."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scale = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    total_w = tl.zeros([BLOCK], tl.float32)
    total_b = tl.zeros([BLOCK], tl.float32)
    for step in range(ROWS):
        row = tl.program_id(0) * ROWS + step
        upstream = tl.load(dy + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        spread = tl.load(rstd + row)
        normal = tl.where(inside, (values - tl.load(mean + row)) * spread, 0.0)
        scaled = scale * upstream
        along = tl.sum(normal * scaled, axis=0) / columns
        level = tl.sum(scaled, axis=0) / columns
        tl.store(dx + row * columns + at, (scaled - (normal * along + level)) * spread, mask=inside)
        total_w += upstream * normal
        total_b += upstream
    tl.store(dw + tl.program_id(0) * columns + at, total_w, mask=inside)
    tl.store(db + tl.program_id(0) * columns + at, total_b, mask=inside)


@triton.jit
def cross_entropy(loss, gradient, logits, labels, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    values = tl.load(logits + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    highest = tl.max(values, 0)
    normal = highest + tl.log(tl.sum(tl.exp(values - highest), 0))
    target = tl.sum(tl.where(at == label, values, 0.0), 0)
    tl.store(loss + row, normal - target)
    share = tl.exp(values - normal)
    tl.store(gradient + row * columns + at, tl.where(at == label, share - 1, share), mask=at < columns)


@triton.jit
def rotary(out, x, cosines, sines, heads, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Rotate the halves of BLOCK heads of one position."""
    position = tl.program_id(0)
    head = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.arange(0, HALF)
    c = tl.load(cosines + position * HALF + at)[None, :]
    s = tl.load(sines + position * HALF + at)[None, :]
    place = (position * heads + head[:, None]) * 2 * HALF + at[None, :]
    left = tl.load(x + place).to(tl.float32)
    right = tl.load(x + place + HALF).to(tl.float32)
    tl.store(out + place, left * c - right * s)
    tl.store(out + place + HALF, right * c + left * s)


@triton.jit
def transpose(out, x, M, N, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(tile))


@triton.jit
def column_sums(out, x, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Sums of all rows, for BLOCK columns of each program."""
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, M, ROWS):
        m = start + tl.arange(0, ROWS)
        total += tl.load(x + m[:, None] * N + n[None, :]).to(tl.float32)
    tl.store(out + n, tl.sum(total, 0))


@triton.jit
def cumulative_sums(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out + row * columns + at, tl.cumsum(values, 0), mask=at < columns)


@triton.jit
def largest(out, x, columns, BLOCK: tl.constexpr):
    """The place of each row's largest element."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    tl.store(out + row, tl.argmax(values, 0))


@triton.jit
def histogram(out, x, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at, mask=at < n, other=0), BINS, mask=at < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts)
