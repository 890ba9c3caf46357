"""Attention in stages: blocks of keys that all queries see, then the diagonal. Gradients by transposed tiles."""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_statistics, describe, empty_like

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
HEAD_SIZES = (16, 32, 64, 128, 256)


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


@triton.jit
def forward_kernel(
    q, k, v, out, logsumexp, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Two stages: the blocks of keys that all of the queries see, then those on the diagonal."""
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


@triton.jit
def delta_kernel(out, dout, delta, length, BLOCK_M: tl.constexpr, D: tl.constexpr):
    """delta: for each row the sum of out * dout, which the gradient of the softmax subtracts."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64) * length
    place = (head + rows[:, None]) * D + tl.arange(0, D)[None, :]
    inside = rows[:, None] < length
    o = tl.load(out + place, mask=inside, other=0.0).to(tl.float32)
    do = tl.load(dout + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(delta + head + rows, tl.sum(o * do, axis=1), mask=rows < length)


@triton.jit
def dkdv_kernel(
    q, k, v, dout, logsumexp, delta, dk, dv, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Tiles are transposed, (keys, queries), so that the products need no transposed p and ds."""
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


@triton.jit
def dq_over_keys(
    dquery, query, k, v, do, lse, di, scale, rows, begin, end, length,
    CAUSAL: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """dq goes on through the keys from `begin` to `end`."""
    d = tl.arange(0, D)
    for start in range(begin, end, BLOCK_N):
        at = start + tl.arange(0, BLOCK_N)
        inside = at[None, :] < length
        key = tl.load(k + at[None, :] * D + d[:, None], mask=inside, other=0.0)
        value = tl.load(v + at[None, :] * D + d[:, None], mask=inside, other=0.0)
        p = tl.exp2(tl.dot(query, key, input_precision="ieee") * (scale * LOG2E) - lse[:, None])
        if CAUSAL:
            inside = inside & (rows[:, None] >= at[None, :])
        p = tl.where(inside, p, 0.0)
        dp = tl.dot(do, value, input_precision="ieee")
        ds = p * (dp - di[:, None])
        dquery = tl.dot(ds.to(key.dtype), tl.trans(key), dquery, input_precision="ieee")
    return dquery


@triton.jit
def dq_kernel(
    q, k, v, dout, logsumexp, delta, dq, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Two stages: first the diagonal, then the blocks of keys that all of the queries see."""
    offset = tl.program_id(1).to(tl.int64) * length
    k += offset * D
    v += offset * D
    first = tl.program_id(0) * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    place = (offset + rows[:, None]) * D + tl.arange(0, D)[None, :]
    mask = rows[:, None] < length
    query = tl.load(q + place, mask=mask, other=0.0)
    do = tl.load(dout + place, mask=mask, other=0.0)
    lse = tl.load(logsumexp + offset + rows, mask=rows < length, other=float("inf"))
    di = tl.load(delta + offset + rows, mask=rows < length, other=0.0)
    dquery = tl.zeros((BLOCK_M, D), tl.float32)
    diagonal = length
    if CAUSAL:
        diagonal = first // BLOCK_N * BLOCK_N
        end = tl.minimum(first + BLOCK_M, length)
        dquery = dq_over_keys(dquery, query, k, v, do, lse, di, scale, rows, diagonal, end, length, True, BLOCK_N, D)
    dquery = dq_over_keys(dquery, query, k, v, do, lse, di, scale, rows, 0, diagonal, length, False, BLOCK_N, D)
    tl.store(dq + place, (dquery * scale).to(dq.dtype.element_ty), mask=mask)


def attention(
    q: Any, k: Any, v: Any, causal: bool = False, scale: float | None = None, tiles: dict[str, int] | None = None
) -> tuple[Any, Any]:
    """The result, and for each row log2 of its sum of powers of 2, for contiguous (batch, heads, length, D) arrays.

    `scale` is 1 / sqrt(D) if it is left out. `tiles` changes BLOCK_M, BLOCK_N, or an option of the launch.
    """
    check_heads(q=q, k=k, v=v)
    batch, heads, length, size = q.shape
    out, logsumexp = empty_like(q), empty_like(q, (batch, heads, length), "float32")
    chosen = tiles_for(q) | (tiles or {})
    grid = (triton.cdiv(length, chosen["BLOCK_M"]), batch * heads)
    scale = size**-0.5 if scale is None else float(scale)
    forward_kernel[grid](q, k, v, out, logsumexp, scale, length, CAUSAL=causal, D=size, **chosen)
    return out, logsumexp


def attention_backward(
    dout: Any, q: Any, k: Any, v: Any, out: Any, logsumexp: Any,
    causal: bool = False, scale: float | None = None, tiles: dict[str, int] | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of q, k and v, from that of the result and what `attention` gave."""
    check_heads(q=q, k=k, v=v, out=out, dout=dout)
    batch, heads, length, size = q.shape
    check_statistics("logsumexp", logsumexp, (batch, heads, length), "q", q)
    dq, dk, dv = (empty_like(x) for x in (q, k, v))
    delta = empty_like(logsumexp)
    chosen = tiles_for(q) | (tiles or {})
    rows = (triton.cdiv(length, chosen["BLOCK_M"]), batch * heads)
    columns = (triton.cdiv(length, chosen["BLOCK_N"]), batch * heads)
    scale = size**-0.5 if scale is None else float(scale)
    given = (q, k, v, dout, logsumexp, delta)
    delta_kernel[rows](out, dout, delta, length, BLOCK_M=chosen["BLOCK_M"], D=size)
    dkdv_kernel[columns](*given, dk, dv, scale, length, CAUSAL=causal, D=size, **chosen)
    dq_kernel[rows](*given, dq, scale, length, CAUSAL=causal, D=size, **chosen)
    return dq, dk, dv


def check_heads(**arrays: Any) -> None:
    """Raise TypeError or ValueError unless all arrays are alike, and such that the kernels can take them."""
    q = arrays["q"]
    for name, x in arrays.items():
        check(name, x, rank=4, dtypes=("float16", "bfloat16", "float32"), contiguous=True)
        check_alike(name, x, "q", q)
        if x.shape != q.shape:
            raise ValueError(f"{name} is {describe(x)}, q is {describe(q)}: their shapes must be equal")
    if q.shape[3] not in HEAD_SIZES:
        raise ValueError(f"the size of a head must be one of {HEAD_SIZES}, but q is {describe(q)}")


def tiles_for(q: Any) -> dict[str, int]:
    """Tiles that fit the shared memory of a GPU."""
    return {"BLOCK_M": 64, "BLOCK_N": 64 if q.shape[3] <= 64 else 32}


def plain(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    """The result without a kernel, for torch tensors: with the whole matrix of scores."""
    scores = q @ k.transpose(2, 3) * q.shape[3] ** -0.5
    if causal:
        later = scores.new_ones(scores.shape[2:]).triu(1).bool()
        scores = scores.masked_fill(later, -float("inf"))
    return scores.softmax(3) @ v


if __name__ == "__main__":
    from kernels import demo

    demo.run("flash_attention")
