"""Attention in stages: blocks of keys that all queries see, then the diagonal. Gradients by transposed tiles."""


@triton.jit
def over_keys(
    result, total, highest, query, k, v, scale, rows, begin, end, length,
    CAUSAL: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """The online softmax goes on through the keys from `begin` to `end`."""
    d = tl.arange(0, D)
    for start in range(begin, end, BLOCK_N):
        at = start + tl.arange(0, BLOCK_N)
        key = tl.load(k + at[None, :] * D + d[:, None], mask=at[None, :] < length, other=0.0)
        products = tl.dot(query, key, input_precision="ieee") * scale
        if CAUSAL:
            products += tl.where(rows[:, None] >= at[None, :], 0, -1.0e6)
        products += tl.where(at[None, :] < length, 0, -1.0e6)
        higher = tl.maximum(highest, tl.max(products, 1))
        p = tl.exp2(products - higher[:, None])
        alpha = tl.exp2(highest - higher)
        result = result * alpha[:, None]
        value = tl.load(v + at[:, None] * D + d[None, :], mask=at[:, None] < length, other=0.0)
        result = tl.dot(p.to(value.dtype), value, result, input_precision="ieee")
        total = total * alpha + tl.sum(p, 1)
        highest = higher
    return result, total, highest


def forward_kernel(
    q, k, v, out, logsumexp, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    offset = tl.program_id(1).to(tl.int64) * length
    k += offset * D
    v += offset * D
    first = tl.program_id(0) * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    place = (offset + rows[:, None]) * D + tl.arange(0, D)[None, :]
    query = tl.load(q + place, mask=rows[:, None] < length, other=0.0)
    total = tl.zeros((BLOCK_M,), tl.float32)
    highest = tl.zeros((BLOCK_M,), tl.float32) - float("inf")
    result = tl.zeros((BLOCK_M, D), tl.float32)
    factor = scale * LOG2E
    diagonal = length
    if CAUSAL:
        diagonal = first // BLOCK_N * BLOCK_N
    result, total, highest = over_keys(
        result, total, highest, query, k, v, factor, rows, 0, diagonal, length, False, BLOCK_N, D
    )
    if CAUSAL:
        end = tl.minimum(first + BLOCK_M, length)
        result, total, highest = over_keys(
            result, total, highest, query, k, v, factor, rows, diagonal, end, length, True, BLOCK_N, D
        )
    result = result / total[:, None]
    highest += tl.log2(total)
    tl.store(logsumexp + offset + rows, highest, mask=rows < length)
    tl.store(out + place, result.to(out.dtype.element_ty), mask=rows[:, None] < length)


def dkdv_kernel(
    q, k, v, dout, logsumexp, delta, dk, dv, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    offset = tl.program_id(1).to(tl.int64) * length
    first = tl.program_id(0) * BLOCK_N
    at = first + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    place = (offset + at[:, None]) * D + d[None, :]
    mask = at[:, None] < length
    key = tl.load(k + place, mask=mask, other=0.0)
    value = tl.load(v + place, mask=mask, other=0.0)
    dkey = tl.zeros((BLOCK_N, D), tl.float32)
    dvalue = tl.zeros((BLOCK_N, D), tl.float32)
    begin = 0
    if CAUSAL:
        begin = first - first % BLOCK_M
    for start in range(begin, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = rows < length
        columns = tl.load(q + (offset + rows[None, :]) * D + d[:, None], mask=inside[None, :], other=0.0)
        do = tl.load(dout + (offset + rows[:, None]) * D + d[None, :], mask=inside[:, None], other=0.0)
        lse = tl.load(logsumexp + offset + rows, mask=inside, other=0.0)
        di = tl.load(delta + offset + rows, mask=inside, other=0.0)
        scores = tl.dot(key, columns, input_precision="ieee") * (scale * LOG2E)
        p = tl.exp2(scores - lse[None, :])
        seen = mask & inside[None, :]
        if CAUSAL:
            seen = seen & (rows[None, :] >= at[:, None])
        p = tl.where(seen, p, 0.0)
        dvalue += tl.dot(p.to(do.dtype), do, input_precision="ieee")
        dp = tl.dot(value, tl.trans(do), input_precision="ieee")
        ds = p * (dp - di[None, :])
        dkey += tl.dot(ds.to(columns.dtype), tl.trans(columns), input_precision="ieee")
    dkey *= scale
    tl.store(dv + place, dvalue.to(dv.dtype.element_ty), mask=mask)
    tl.store(dk + place, dkey.to(dk.dtype.element_ty), mask=mask)
