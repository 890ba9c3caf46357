"""Kernels like those the course ends with: real Triton's TTIR for them is the corpus of the parser's tests.

Imports Triton. What is compiled, and with which arguments, is listed in `corpus/__init__.py`.
"""

from __future__ import annotations

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
def softmax_online(out, x, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    highest = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, columns, BLOCK):
        values = tl.load(x + row * stride + start + at, mask=start + at < columns, other=-float("inf"))
        higher = tl.maximum(highest, tl.max(values, axis=0))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(values - higher), axis=0)
        highest = higher
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        values = tl.load(x + row * stride + start + at, mask=inside)
        tl.store(out + row * stride + start + at, tl.exp(values - highest) / total, mask=inside)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_activation(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    first = program // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height

    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_tile = a + rows[:, None] * stride_a + inner[None, :]
    b_tile = b + inner[:, None] * stride_b + columns[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(a_tile, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        y = tl.load(b_tile, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(x, y, total)
        a_tile += BLOCK_K
        b_tile += BLOCK_K * stride_b
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def dropout(out, x, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, values / (1 - p), 0.0), mask=at < n)


@triton.jit
def layer_norm_forward(out, x, weight, bias, mean_out, rstd_out, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        centred = tl.where(at < columns, values - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        scale = tl.load(weight + at, mask=at < columns)
        shift = tl.load(bias + at, mask=at < columns)
        values = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        tl.store(out + at, (values - mean) * rstd * scale + shift, mask=at < columns)


@triton.jit
def layer_norm_gradient(dy, x, weight, mean, rstd, row, stride, columns, at, inside):
    """The gradients of one row: of x, and the row's share of those of weight and bias."""
    values = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    upstream = tl.load(dy + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(weight + at, mask=inside).to(tl.float32)
    spread = tl.load(rstd + row)
    normal = tl.where(inside, (values - tl.load(mean + row)) * spread, 0.0)
    scaled = tl.where(inside, scale * upstream, 0.0)
    along = tl.sum(normal * scaled, axis=0) / columns
    level = tl.sum(scaled, axis=0) / columns
    return (scaled - (normal * along + level)) * spread, upstream * normal, upstream


@triton.jit
def layer_norm_backward_lock(
    dx, dy, dw, db, x, weight, mean, rstd, locks, stride, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    d_x, d_w, d_b = layer_norm_gradient(dy, x, weight, mean, rstd, row, stride, columns, at, inside)
    tl.store(dx + row * stride + at, d_x, mask=inside)

    slot = row % GROUP
    lock = locks + slot
    used = lock + GROUP
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(used)
    if count == 0:
        tl.atomic_xchg(used, 1)
    else:
        d_w += tl.load(dw + slot * columns + at, mask=inside)
        d_b += tl.load(db + slot * columns + at, mask=inside)
    tl.store(dw + slot * columns + at, d_w, mask=inside)
    tl.store(db + slot * columns + at, d_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_backward_rows(
    dx, dy, dw, db, x, weight, mean, rstd, stride, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    program = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    sum_w = tl.zeros([BLOCK], tl.float32)
    sum_b = tl.zeros([BLOCK], tl.float32)
    for row in range(program * ROWS, min((program + 1) * ROWS, rows)):
        d_x, d_w, d_b = layer_norm_gradient(dy, x, weight, mean, rstd, row, stride, columns, at, inside)
        tl.store(dx + row * stride + at, d_x, mask=inside)
        sum_w += d_w
        sum_b += d_b
    tl.store(dw + program * columns + at, sum_w, mask=inside)
    tl.store(db + program * columns + at, sum_b, mask=inside)


@triton.jit
def layer_norm_backward_sum(dw, db, out_w, out_b, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    at = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    sum_w = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    sum_b = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, rows, BLOCK_M):
        row = start + tl.arange(0, BLOCK_M)
        inside = (row[:, None] < rows) & (at[None, :] < columns)
        place = row[:, None] * columns + at[None, :]
        sum_w += tl.load(dw + place, mask=inside, other=0.0)
        sum_b += tl.load(db + place, mask=inside, other=0.0)
    tl.store(out_w + at, tl.sum(sum_w, axis=0), mask=at < columns)
    tl.store(out_b + at, tl.sum(sum_b, axis=0), mask=at < columns)


@triton.jit
def conv2d_direct(out, x, w, C, H, W, K, P, Q, stride, padding, R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr):
    image = tl.program_id(0) // K
    channel = tl.program_id(0) % K
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    p = at // Q
    q = at % Q
    total = tl.zeros([BLOCK], tl.float32)
    for c in range(C):
        for r in tl.static_range(R):
            for s in tl.static_range(S):
                h = p * stride - padding + r
                v = q * stride - padding + s
                inside = (at < P * Q) & (h >= 0) & (h < H) & (v >= 0) & (v < W)
                values = tl.load(x + ((image * C + c) * H + h) * W + v, mask=inside, other=0.0)
                total += values * tl.load(w + ((channel * C + c) * R + r) * S + s)
    tl.store(out + (image * K + channel) * P * Q + at, total, mask=at < P * Q)


@triton.jit
def conv2d_implicit_gemm(
    out,
    x,
    w,
    N,
    C,
    H,
    W,
    K,
    P,
    Q,
    R,
    S,
    stride,
    padding,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pixel = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    channel = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    image = pixel // (P * Q)
    p = pixel // Q % P
    q = pixel % Q
    depth = C * R * S
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, depth, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c = k // (R * S)
        h = (p * stride - padding)[:, None] + (k // S % R)[None, :]
        v = (q * stride - padding)[:, None] + (k % S)[None, :]
        inside = (pixel < N * P * Q)[:, None] & (k < depth)[None, :] & (h >= 0) & (h < H) & (v >= 0) & (v < W)
        patch = tl.load(x + ((image[:, None] * C + c[None, :]) * H + h) * W + v, mask=inside, other=0.0)
        taps_inside = (k < depth)[:, None] & (channel < K)[None, :]
        taps = tl.load(w + channel[None, :] * depth + k[:, None], mask=taps_inside, other=0.0)
        total = tl.dot(patch, taps, total)
    place = (image * K * P * Q + pixel % (P * Q))[:, None] + channel[None, :] * P * Q
    tl.store(out + place, total.to(tl.float16), mask=(pixel < N * P * Q)[:, None] & (channel < K)[None, :])
