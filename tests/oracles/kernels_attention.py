"""Flash attention for real Triton, forward and backward, as in `kernels.py`. Imports Triton."""

from __future__ import annotations

import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def attention_forward(
    q,
    k,
    v,
    out,
    lse,
    scale,
    length,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    D: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * length
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    query = tl.load(q + (head + rows[:, None]) * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    highest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    result = tl.zeros([BLOCK_M, D], tl.float32)
    end = length
    if CAUSAL:
        end = min(length, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        at = start + columns
        inside = at[:, None] < length
        key = tl.load(k + (head + at[:, None]) * D + d[None, :], mask=inside, other=0.0)
        value = tl.load(v + (head + at[:, None]) * D + d[None, :], mask=inside, other=0.0)
        scores = tl.dot(query, tl.trans(key)) * (scale * LOG2E)
        seen = at[None, :] < length
        if CAUSAL:
            seen = seen & (rows[:, None] >= at[None, :])
        scores = tl.where(seen, scores, -1.0e6)
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.math.exp2(scores - higher[:, None])
        decay = tl.math.exp2(highest - higher)
        total = total * decay + tl.sum(weights, 1)
        result = tl.dot(weights.to(value.dtype), value, result * decay[:, None])
        highest = higher
    tl.store(lse + head + rows, highest + tl.math.log2(total), mask=rows < length)
    place = out + (head + rows[:, None]) * D + d[None, :]
    tl.store(place, (result / total[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < length)


@triton.jit
def attention_backward_delta(out, dout, delta, length, BLOCK: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * length
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = (head + rows[:, None]) * D + tl.arange(0, D)[None, :]
    inside = rows[:, None] < length
    product = tl.load(out + place, mask=inside, other=0.0).to(tl.float32) * tl.load(
        dout + place, mask=inside, other=0.0
    )
    tl.store(delta + head + rows, tl.sum(product, axis=1), mask=rows < length)


@triton.jit
def attention_backward_dkdv(
    q,
    k,
    v,
    dout,
    dk,
    dv,
    lse,
    delta,
    scale,
    length,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    D: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * length
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    place = (head + columns[:, None]) * D + d[None, :]
    key = tl.load(k + place, mask=columns[:, None] < length, other=0.0)
    value = tl.load(v + place, mask=columns[:, None] < length, other=0.0)
    d_key = tl.zeros([BLOCK_N, D], tl.float32)
    d_value = tl.zeros([BLOCK_N, D], tl.float32)
    begin = 0
    if CAUSAL:
        begin = tl.program_id(0) * BLOCK_N // BLOCK_M * BLOCK_M
    for start in range(begin, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = rows < length
        query = tl.load(q + (head + rows[:, None]) * D + d[None, :], mask=inside[:, None], other=0.0)
        grad = tl.load(dout + (head + rows[:, None]) * D + d[None, :], mask=inside[:, None], other=0.0)
        level = tl.load(lse + head + rows, mask=inside, other=0.0)
        weights = tl.math.exp2(tl.dot(key, tl.trans(query)) * (scale * LOG2E) - level[None, :])
        seen = inside[None, :] & (columns[:, None] < length)
        if CAUSAL:
            seen = seen & (rows[None, :] >= columns[:, None])
        weights = tl.where(seen, weights, 0.0)
        d_value = tl.dot(weights.to(tl.float16), grad, d_value)
        d_weights = tl.dot(value, tl.trans(grad))
        d_scores = weights * (d_weights - tl.load(delta + head + rows, mask=inside, other=0.0)[None, :])
        d_key = tl.dot(d_scores.to(tl.float16), query, d_key)
    tl.store(dk + place, (d_key * scale).to(tl.float16), mask=columns[:, None] < length)
    tl.store(dv + place, d_value.to(tl.float16), mask=columns[:, None] < length)


@triton.jit
def attention_backward_dq(
    q,
    k,
    v,
    dout,
    dq,
    lse,
    delta,
    scale,
    length,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    D: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64) * length
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    place = (head + rows[:, None]) * D + d[None, :]
    query = tl.load(q + place, mask=rows[:, None] < length, other=0.0)
    grad = tl.load(dout + place, mask=rows[:, None] < length, other=0.0)
    level = tl.load(lse + head + rows, mask=rows < length, other=0.0)
    share = tl.load(delta + head + rows, mask=rows < length, other=0.0)
    d_query = tl.zeros([BLOCK_M, D], tl.float32)
    end = length
    if CAUSAL:
        end = min(length, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        inside = columns[:, None] < length
        key = tl.load(k + (head + columns[:, None]) * D + d[None, :], mask=inside, other=0.0)
        value = tl.load(v + (head + columns[:, None]) * D + d[None, :], mask=inside, other=0.0)
        weights = tl.math.exp2(tl.dot(query, tl.trans(key)) * (scale * LOG2E) - level[:, None])
        seen = columns[None, :] < length
        if CAUSAL:
            seen = seen & (rows[:, None] >= columns[None, :])
        weights = tl.where(seen, weights, 0.0)
        d_scores = weights * (tl.dot(grad, tl.trans(value)) - share[:, None])
        d_query = tl.dot(d_scores.to(tl.float16), key, d_query)
    tl.store(dq + place, (d_query * scale).to(tl.float16), mask=rows[:, None] < length)
