"""Attention whose inner loop is a function, called once for the whole blocks and once for the diagonal."""

import triton
import triton.language as tl


@triton.jit
def attend(
    total, weight, highest, query, k, v, first_row, scale, length,
    STAGE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
    rows, columns,
):  # fmt: skip
    """Go on over some of the keys: those before the diagonal (stage 1), on it (2), or all (3)."""
    if STAGE == 1:
        low, high = 0, first_row
    elif STAGE == 2:
        low, high = first_row, first_row + BLOCK_M
        low = tl.multiple_of(low, BLOCK_M)
    else:
        low, high = 0, length
    d = tl.arange(0, D)
    k += low * D
    v += low * D
    for start in tl.range(low, high, BLOCK_N):
        start = tl.multiple_of(start, BLOCK_N)
        key = tl.load(k + columns[:, None] * D + d[None, :])
        scores = tl.dot(query, key.T)
        if STAGE == 2:
            seen = rows[:, None] >= (start + columns[None, :])
            scores = scores * scale + tl.where(seen, 0, -1.0e6)
            higher = tl.maximum(highest, tl.max(scores, 1))
            scores -= higher[:, None]
        else:
            higher = tl.maximum(highest, tl.max(scores, 1) * scale)
            scores = scores * scale - higher[:, None]
        powers = tl.math.exp2(scores)
        decay = tl.math.exp2(highest - higher)
        weight = weight * decay + tl.sum(powers, 1)
        total = total * decay[:, None]
        value = tl.load(v + columns[:, None] * D + d[None, :])
        total = tl.dot(powers.to(tl.float16), value, total)
        highest = higher
        k += BLOCK_N * D
        v += BLOCK_N * D
    return total, weight, highest


@triton.jit
def attention_staged(
    out, q, k, v, lse, scale, length, heads,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    tl.static_assert(BLOCK_N <= D)
    first_row = tl.program_id(0) * BLOCK_M
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    base = (batch.to(tl.int64) * heads + head) * length
    rows = first_row + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    query = tl.load(q + base * D + rows[:, None] * D + d[None, :])
    highest = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    weight = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    total = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    scale *= 1.44269504
    if CAUSAL:
        total, weight, highest = attend(
            total, weight, highest, query, k + base * D, v + base * D, first_row, scale, length,
            1, BLOCK_M, BLOCK_N, D, rows, columns,
        )  # fmt: skip
    total, weight, highest = attend(
        total, weight, highest, query, k + base * D, v + base * D, first_row, scale, length,
        2 if CAUSAL else 3, BLOCK_M, BLOCK_N, D, rows, columns,
    )  # fmt: skip
    highest += tl.math.log2(weight)
    tl.store(lse + base + rows, highest)
    tl.store(out + base * D + rows[:, None] * D + d[None, :], (total / weight[:, None]).to(out.type.element_ty))
