"""Flash attention, causal or not."""

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
