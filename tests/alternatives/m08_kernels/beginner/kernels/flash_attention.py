"""Attention, a block of keys at a time, one small step after the other, with powers of e."""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_statistics, describe, empty_like

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
HEAD_SIZES = (16, 32, 64, 128, 256)


@triton.jit
def forward_kernel(
    q, k, v, out, logsumexp, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """One program for BLOCK_M queries of one head. Powers are of e, and all keys are looked at, seen or not."""
    block = tl.program_id(0)
    head = tl.program_id(1)
    start_of_head = head.to(tl.int64) * length * D
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    rows_inside = rows < length
    elements = tl.arange(0, D)

    query_places = start_of_head + rows[:, None] * D + elements[None, :]
    query = tl.load(q + query_places, mask=rows_inside[:, None], other=0.0)

    maximum = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    result = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, length, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        keys_inside = keys < length

        # Loaded as columns, so that nothing is to be transposed.
        key_places = start_of_head + keys[None, :] * D + elements[:, None]
        key_columns = tl.load(k + key_places, mask=keys_inside[None, :], other=0.0)
        scores = tl.dot(query, key_columns, input_precision="ieee")
        scores = scores * scale
        scores = tl.where(keys_inside[None, :], scores, float("-inf"))
        if CAUSAL:
            scores = tl.where(keys[None, :] > rows[:, None], float("-inf"), scores)

        block_maximum = tl.max(scores, axis=1)
        new_maximum = tl.maximum(maximum, block_maximum)
        correction = tl.exp(maximum - new_maximum)
        weights = tl.exp(scores - new_maximum[:, None])

        total = total * correction
        total = total + tl.sum(weights, axis=1)

        value_places = start_of_head + keys[:, None] * D + elements[None, :]
        values = tl.load(v + value_places, mask=keys_inside[:, None], other=0.0)
        result = result * correction[:, None]
        result = result + tl.dot(weights.to(v.dtype.element_ty), values, input_precision="ieee")
        maximum = new_maximum

    natural = maximum + tl.log(total)
    tl.store(logsumexp + head * length + rows, natural * LOG2E, mask=rows_inside)
    result = result / total[:, None]
    tl.store(out + query_places, result.to(out.dtype.element_ty), mask=rows_inside[:, None])


@triton.jit
def delta_kernel(out, dout, delta, length, BLOCK_M: tl.constexpr, D: tl.constexpr):
    """delta: for each row the sum of out * dout, one element of the rows after the other."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    inside = rows < length
    start_of_head = head.to(tl.int64) * length * D
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    for element in range(0, D):
        places = start_of_head + rows * D + element
        of_out = tl.load(out + places, mask=inside, other=0.0)
        of_dout = tl.load(dout + places, mask=inside, other=0.0)
        total = total + of_out.to(tl.float32) * of_dout.to(tl.float32)
    tl.store(delta + head * length + rows, total, mask=inside)


@triton.jit
def probabilities(query, key, logsumexp, scale, rows, at, length, CAUSAL: tl.constexpr):
    """The block of the softmax's results for these queries (rows) and keys (at). (Given.)"""
    scores = tl.dot(query, tl.trans(key), input_precision="ieee") * (scale * LOG2E)
    seen = (rows[:, None] < length) & (at[None, :] < length)
    if CAUSAL:
        seen = seen & (rows[:, None] >= at[None, :])
    return tl.where(seen, tl.exp2(scores - logsumexp[:, None]), 0.0)


@triton.jit
def dkdv_kernel(
    q, k, v, dout, logsumexp, delta, dk, dv, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """The gradients of k and v: one program for BLOCK_N keys of one head. All queries are looked at."""
    head = tl.program_id(1)
    start_of_head = head.to(tl.int64) * length * D
    keys = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    keys_inside = keys < length
    elements = tl.arange(0, D)
    key_places = start_of_head + keys[:, None] * D + elements[None, :]
    key = tl.load(k + key_places, mask=keys_inside[:, None], other=0.0)
    value = tl.load(v + key_places, mask=keys_inside[:, None], other=0.0)
    dk_total = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv_total = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    for start in range(0, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        rows_inside = rows < length
        query_places = start_of_head + rows[:, None] * D + elements[None, :]
        query = tl.load(q + query_places, mask=rows_inside[:, None], other=0.0)
        do = tl.load(dout + query_places, mask=rows_inside[:, None], other=0.0)
        row_logsumexp = tl.load(logsumexp + head * length + rows, mask=rows_inside, other=0.0)
        row_delta = tl.load(delta + head * length + rows, mask=rows_inside, other=0.0)

        p = probabilities(query, key, row_logsumexp, scale, rows, keys, length, CAUSAL)
        p_transposed = tl.trans(p).to(do.dtype)
        dv_total = dv_total + tl.dot(p_transposed, do, input_precision="ieee")

        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        difference = dp - row_delta[:, None]
        ds = p * difference * scale
        ds_transposed = tl.trans(ds).to(query.dtype)
        dk_total = dk_total + tl.dot(ds_transposed, query, input_precision="ieee")
    tl.store(dk + key_places, dk_total.to(dk.dtype.element_ty), mask=keys_inside[:, None])
    tl.store(dv + key_places, dv_total.to(dv.dtype.element_ty), mask=keys_inside[:, None])


@triton.jit
def dq_kernel(
    q, k, v, dout, logsumexp, delta, dq, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """The gradient of q: one program for BLOCK_M queries of one head. All keys are looked at."""
    head = tl.program_id(1)
    start_of_head = head.to(tl.int64) * length * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rows_inside = rows < length
    elements = tl.arange(0, D)
    query_places = start_of_head + rows[:, None] * D + elements[None, :]
    query = tl.load(q + query_places, mask=rows_inside[:, None], other=0.0)
    do = tl.load(dout + query_places, mask=rows_inside[:, None], other=0.0)
    row_logsumexp = tl.load(logsumexp + head * length + rows, mask=rows_inside, other=0.0)
    row_delta = tl.load(delta + head * length + rows, mask=rows_inside, other=0.0)
    total = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, length, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        keys_inside = keys < length
        key_places = start_of_head + keys[:, None] * D + elements[None, :]
        key = tl.load(k + key_places, mask=keys_inside[:, None], other=0.0)
        value = tl.load(v + key_places, mask=keys_inside[:, None], other=0.0)
        p = probabilities(query, key, row_logsumexp, scale, rows, keys, length, CAUSAL)
        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        ds = p * (dp - row_delta[:, None])
        total = total + tl.dot(ds.to(key.dtype), key, input_precision="ieee")
    total = total * scale
    tl.store(dq + query_places, total.to(dq.dtype.element_ty), mask=rows_inside[:, None])


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
