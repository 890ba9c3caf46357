"""Attention without the matrix of scores: `softmax(q @ k.T * scale) @ v` for one tile of keys at a time.

The softmax is online (see `softmax.py`): when a tile raises the maximum, the result so far is scaled down. The
backward pass needs only one number for each row: the logarithm of the row's sum of exponentials. With this number, the
kernels can recompute any tile of probabilities. Exponentials have the base 2, for which GPUs have an instruction:
`exp(x) = exp2(x * log2(e))`.

Source: Dao, "FlashAttention-2" (2023); Triton's tutorial 06.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_statistics, describe, empty_like, unless_tuned

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
HEAD_SIZES = (16, 32, 64, 128, 256)


@triton.jit
def end_of_keys(length, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr):
    """The end of the range of keys that this program's BLOCK_M queries see."""
    end = length
    if CAUSAL:
        # [task 8.11] With BLOCK_M = 64 and length = 100, the end is 64 for program 0, and 100 for program 1.
        end = min(length, (tl.program_id(0) + 1) * BLOCK_M)
        # [end]
    return end


@triton.jit
def is_seen(rows, at, length, CAUSAL: tl.constexpr):
    """Whether query rows[i] sees key at[j]: a matrix of booleans. A single row is valid for all queries."""
    seen = at[None, :] < length
    if CAUSAL:
        # [task 8.11] Query 5 sees the keys 0 to 5.
        seen = seen & (rows[:, None] >= at[None, :])
        # [end]
    return seen


@triton.jit
def forward_kernel(
    q, k, v, out, logsumexp, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Each program handles BLOCK_M queries (rows of q) of one head.

    Axis 0 of the grid indexes tiles of queries, and axis 1 indexes heads.
    """
    # [task 8.10] Let scores = q @ k.T * scale. Compute out = softmax(scores) @ v and, for each query, the logsumexp,
    # which is log2(sum(exp2(scores * LOG2E))). Process BLOCK_N keys at a time, up to `end_of_keys`. Scale scores in
    # fp32. A key that a query does not see has the score -inf. All arrays are contiguous: q, k, v and out have the
    # shape (heads, length, D), and logsumexp has the shape (heads, length). Each `tl.dot` needs input_precision="ieee".
    # Given: `end_of_keys`; `is_seen`, which tells which keys a query sees.
    head = tl.program_id(1).to(tl.int64) * length * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    highest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    result = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, end_of_keys(length, CAUSAL, BLOCK_M), BLOCK_N):
        at = start + columns
        inside = at[:, None] < length
        key = tl.load(k + head + at[:, None] * D + d[None, :], mask=inside, other=0.0)
        value = tl.load(v + head + at[:, None] * D + d[None, :], mask=inside, other=0.0)
        scores = tl.dot(query, tl.trans(key), input_precision="ieee") * (scale * LOG2E)
        scores = tl.where(is_seen(rows, at, length, CAUSAL), scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - higher[:, None])
        decay = tl.exp2(highest - higher)
        total = total * decay + tl.sum(weights, axis=1)
        result = tl.dot(weights.to(value.dtype), value, result * decay[:, None], input_precision="ieee")
        highest = higher
    tl.store(logsumexp + tl.program_id(1) * length + rows, highest + tl.log2(total), mask=rows < length)
    place = out + head + rows[:, None] * D + d[None, :]
    tl.store(place, result / total[:, None], mask=rows[:, None] < length)
    # [end]


@triton.jit
def delta_kernel(out, dout, delta, length, BLOCK_M: tl.constexpr, D: tl.constexpr):
    """Compute delta: for each row, the sum of out * dout, where dout is the gradient of out."""
    # [task 8.12] The row [1, 2] of out and the row [3, 4] of dout give 11. The grid is that of `forward_kernel`. dout
    # has the shape of out, and delta has the shape of logsumexp.
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64) * length
    place = (head + rows[:, None]) * D + tl.arange(0, D)[None, :]
    inside = rows[:, None] < length
    o = tl.load(out + place, mask=inside, other=0.0).to(tl.float32)
    do = tl.load(dout + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(delta + head + rows, tl.sum(o * do, axis=1), mask=rows < length)
    # [end]


@triton.jit
def probabilities(query, key, logsumexp, scale, rows, at, length, CAUSAL: tl.constexpr):
    """The tile of softmax results for these queries (rows) and keys (at). (Given.)"""
    scores = tl.dot(query, tl.trans(key), input_precision="ieee") * (scale * LOG2E)
    seen = is_seen(rows, at, length, CAUSAL) & (rows[:, None] < length)
    return tl.where(seen, tl.exp2(scores - logsumexp[:, None]), 0.0)


@triton.jit
def dq_kernel(
    q, k, v, dout, logsumexp, delta, dq, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Compute the gradient of q. Each program handles BLOCK_M queries of one head."""
    # [task 8.12] The formulas are in the chapter's table. Process BLOCK_N keys at a time. The grid and the shapes are
    # those of the forward pass. Given: `probabilities`, which returns a tile of p.
    head = tl.program_id(1).to(tl.int64) * length
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    inside = rows < length
    d = tl.arange(0, D)
    place = (head + rows[:, None]) * D + d[None, :]
    query = tl.load(q + place, mask=inside[:, None], other=0.0)
    do = tl.load(dout + place, mask=inside[:, None], other=0.0)
    lse = tl.load(logsumexp + head + rows, mask=inside, other=0.0)
    row_delta = tl.load(delta + head + rows, mask=inside, other=0.0)
    dquery = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, end_of_keys(length, CAUSAL, BLOCK_M), BLOCK_N):
        at = start + tl.arange(0, BLOCK_N)
        there = (head + at[:, None]) * D + d[None, :]
        key = tl.load(k + there, mask=at[:, None] < length, other=0.0)
        value = tl.load(v + there, mask=at[:, None] < length, other=0.0)
        p = probabilities(query, key, lse, scale, rows, at, length, CAUSAL)
        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        ds = p * (dp - row_delta[:, None])
        dquery = tl.dot(ds.to(key.dtype), key, dquery, input_precision="ieee")
    tl.store(dq + place, dquery * scale, mask=inside[:, None])
    # [end]


@triton.jit
def dkdv_kernel(
    q, k, v, dout, logsumexp, delta, dk, dv, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of k and v. Each program handles BLOCK_N keys of one head."""
    # [task 8.13] The formulas are in the chapter's table. Axis 0 of the grid indexes tiles of keys, and axis 1 indexes
    # heads. Process BLOCK_M queries at a time. If CAUSAL, skip the tiles of queries that see none of the program's
    # keys. BLOCK_M and BLOCK_N may differ.
    head = tl.program_id(1).to(tl.int64) * length
    at = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    place = (head + at[:, None]) * D + d[None, :]
    key = tl.load(k + place, mask=at[:, None] < length, other=0.0)
    value = tl.load(v + place, mask=at[:, None] < length, other=0.0)
    dkey = tl.zeros((BLOCK_N, D), tl.float32)
    dvalue = tl.zeros((BLOCK_N, D), tl.float32)
    begin = tl.program_id(0) * BLOCK_N if CAUSAL else 0
    for start in range(begin, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = rows < length
        there = (head + rows[:, None]) * D + d[None, :]
        query = tl.load(q + there, mask=inside[:, None], other=0.0)
        do = tl.load(dout + there, mask=inside[:, None], other=0.0)
        lse = tl.load(logsumexp + head + rows, mask=inside, other=0.0)
        p = probabilities(query, key, lse, scale, rows, at, length, CAUSAL)
        dvalue = tl.dot(tl.trans(p.to(do.dtype)), do, dvalue, input_precision="ieee")
        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        ds = p * (dp - tl.load(delta + head + rows, mask=inside, other=0.0)[:, None])
        dkey = tl.dot(tl.trans(ds.to(query.dtype)), query, dkey, input_precision="ieee")
    tl.store(dk + place, dkey * scale, mask=at[:, None] < length)
    tl.store(dv + place, dvalue, mask=at[:, None] < length)
    # [end]


def attention(
    q: Any, k: Any, v: Any, causal: bool = False, scale: float | None = None, tiles: dict[str, int] | None = None,
    kernel: Any = forward_kernel,
) -> tuple[Any, Any]:  # fmt: skip
    """The result, and log2 of each row's sum of exponentials, for contiguous (batch, heads, length, D) arrays.

    `scale` defaults to 1 / sqrt(D). `tiles` sets BLOCK_M, BLOCK_N or launch options. A `kernel` from `kernels.tuned`
    chooses all of these itself.
    """
    check_heads(q=q, k=k, v=v)
    out, logsumexp = empty_like(q), empty_like(q, q.shape[:3], "float32")
    launch(kernel, "BLOCK_M", (q, k, v, out, logsumexp), causal, scale, tiles)
    return out, logsumexp


def attention_backward(
    dout: Any, q: Any, k: Any, v: Any, out: Any, logsumexp: Any,
    causal: bool = False, scale: float | None = None, tiles: dict[str, int] | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of q, k and v, from the gradient of the result and the results of `attention`."""
    check_heads(q=q, k=k, v=v, out=out, dout=dout)
    check_statistics("logsumexp", logsumexp, tuple(q.shape[:3]), "q", q)
    given = (q, k, v, dout, logsumexp, products_of(out, dout, tiles))
    options = {"causal": causal, "scale": scale, "tiles": tiles}
    return gradient_of_q(*given, **options), *gradients_of_kv(*given, **options)


def products_of(out: Any, dout: Any, tiles: dict[str, int] | None = None) -> Any:
    """delta: the sum of `out * dout` for each row, in fp32."""
    delta = empty_like(out, tuple(out.shape[:3]), "float32")
    block = (tiles_for(out) | (tiles or {}))["BLOCK_M"]
    batch, heads, length, size = out.shape
    delta_kernel[(triton.cdiv(length, block), batch * heads)](out, dout, delta, length, BLOCK_M=block, D=size)
    return delta


def gradient_of_q(q: Any, k: Any, v: Any, dout: Any, logsumexp: Any, delta: Any, **options: Any) -> Any:
    """The gradient of q. Options are those of `attention`."""
    dq = empty_like(q)
    launch(dq_kernel, "BLOCK_M", (q, k, v, dout, logsumexp, delta, dq), **options)
    return dq


def gradients_of_kv(q: Any, k: Any, v: Any, dout: Any, logsumexp: Any, delta: Any, **options: Any) -> tuple[Any, Any]:
    """The gradients of k and v. Options are those of `attention`."""
    dk, dv = empty_like(k), empty_like(v)
    launch(dkdv_kernel, "BLOCK_N", (q, k, v, dout, logsumexp, delta, dk, dv), **options)
    return dk, dv


def launch(
    kernel: Any, block: str, arrays: tuple[Any, ...],
    causal: bool = False, scale: float | None = None, tiles: dict[str, int] | None = None,
) -> None:  # fmt: skip
    """Launch a kernel on arrays, the first of which is q, with a program for each tile of rows of each head."""
    batch, heads, length, size = arrays[0].shape
    chosen = unless_tuned(kernel, **tiles_for(arrays[0]) | (tiles or {}))
    grid = lambda meta: (triton.cdiv(length, meta[block]), batch * heads)  # noqa: E731
    kernel[grid](*arrays, size**-0.5 if scale is None else float(scale), length, CAUSAL=bool(causal), D=size, **chosen)


def check_heads(**arrays: Any) -> None:
    """Raise TypeError or ValueError unless all arrays are alike and suitable for the kernels."""
    q = arrays["q"]
    for name, x in arrays.items():
        check(name, x, rank=4, dtypes=("float16", "bfloat16", "float32"), contiguous=True)
        check_alike(name, x, "q", q)
        if x.shape != q.shape:
            raise ValueError(f"{name} is {describe(x)} and q is {describe(q)}: their shapes must be equal")
    if q.shape[3] not in HEAD_SIZES:
        raise ValueError(f"the size of a head must be one of {HEAD_SIZES}, but q is {describe(q)}")


def tiles_for(q: Any) -> dict[str, int]:
    """Tiles that fit in the shared memory of a GPU."""
    return {"BLOCK_M": 64, "BLOCK_N": 64 if q.shape[3] <= 64 else 32}


if __name__ == "__main__":
    from kernels import demo

    demo.run("flash_attention")
