"""Attention without the matrix of scores. See `kernels.flash_attention` for the idea.

Tiles of keys that every query of a program sees are not masked. Masks are needed only on the diagonal, and at the end
of a sequence whose length is not a multiple of the tile size. Scaling is free, because it is part of the instruction
for the exponential. The gradients of k and v are computed from transposed scores, with a row for each key: tensor cores
take their left operand from registers, so results just computed need not go through shared memory.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.flash_attention import LOG2E, check_heads, delta_kernel
from kernels.host import check_statistics, empty_like
from kernels.tuned import configs, worth_trying


@triton.jit
def tile_at(memory, start, length, BLOCK: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr):
    """The rows `start`, `start + 1`, ... of a (length, D) matrix; rows beyond the end are 0."""
    row = tl.arange(0, BLOCK)
    place = row[:, None] * D + tl.arange(0, D)[None, :]
    if EVEN:
        return tl.load(memory + start * D + place)
    else:
        return tl.load(memory + start * D + place, mask=(start + row < length)[:, None], other=0.0)


@triton.jit
def numbers_at(memory, start, length, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    """The elements `start`, `start + 1`, ... of a vector of `length` numbers; elements beyond the end are 0."""
    at = start + tl.arange(0, BLOCK)
    if EVEN:
        return tl.load(memory + at)
    else:
        return tl.load(memory + at, mask=at < length, other=0.0)


@triton.jit
def put_at(memory, start, length, values, BLOCK: tl.constexpr, D: tl.constexpr):
    """Store rows of a (length, D) matrix."""
    row = start + tl.arange(0, BLOCK)
    place = memory + row[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(place, values.to(memory.dtype.element_ty), mask=(row < length)[:, None])


@triton.jit
def keys_seen_by_all(first, length, CAUSAL: tl.constexpr, BLOCK_N: tl.constexpr):
    """The end of the whole tiles of keys that all queries from `first` on see."""
    return (first if CAUSAL else length) // BLOCK_N * BLOCK_N


@triton.jit
def attend(
    highest, total, result, query, k, v, rows, begin, end, length, factor,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Continue the online softmax over the keys from `begin` to `end`."""
    for start in range(begin, end, BLOCK_N):
        key = tile_at(k, start, length, BLOCK_N, D, not MASKED)
        scores = tl.dot(query, tl.trans(key), input_precision="ieee")
        if MASKED:
            at = start + tl.arange(0, BLOCK_N)
            seen = (at < length)[None, :]
            if CAUSAL:
                seen = seen & (rows[:, None] >= at[None, :])
            scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1) * factor)
        weights = tl.exp2(scores * factor - higher[:, None])
        decay = tl.exp2(highest - higher)
        total = total * decay + tl.sum(weights, axis=1)
        value = tile_at(v, start, length, BLOCK_N, D, not MASKED)
        result = tl.dot(weights.to(value.dtype), value, result * decay[:, None], input_precision="ieee")
        highest = higher
    return highest, total, result


@triton.jit
def forward_kernel(
    q, k, v, out, logsumexp, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """One program for BLOCK_M queries of one head. EVEN: the length is a multiple of both tile sizes."""
    block = tl.program_id(0)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block  # programs with the most keys start first
    first = block * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64) * length
    q += head * D
    k += head * D
    v += head * D
    query = tile_at(q, first, length, BLOCK_M, D, EVEN)
    highest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    result = tl.zeros((BLOCK_M, D), tl.float32)
    factor = scale * LOG2E
    whole = keys_seen_by_all(first, length, CAUSAL, BLOCK_N)
    highest, total, result = attend(
        highest, total, result, query, k, v, rows, 0, whole, length, factor, CAUSAL, False, BLOCK_N, D
    )  # fmt: skip
    if CAUSAL or not EVEN:
        end = min(length, first + BLOCK_M) if CAUSAL else length
        highest, total, result = attend(
            highest, total, result, query, k, v, rows, whole, end, length, factor, CAUSAL, True, BLOCK_N, D
        )  # fmt: skip
    tl.store(logsumexp + head + rows, highest + tl.log2(total), mask=rows < length)
    put_at(out + head * D, first, length, result / total[:, None], BLOCK_M, D)


@triton.jit
def descend(
    dquery, query, do, lse, delta, k, v, rows, begin, end, length, factor,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    """Add the contribution of the keys from `begin` to `end` to the gradient of the queries."""
    for start in range(begin, end, BLOCK_N):
        key = tile_at(k, start, length, BLOCK_N, D, not MASKED)
        value = tile_at(v, start, length, BLOCK_N, D, not MASKED)
        p = tl.exp2(tl.dot(query, tl.trans(key), input_precision="ieee") * factor - lse[:, None])
        if MASKED:
            at = start + tl.arange(0, BLOCK_N)
            seen = (at < length)[None, :]
            if CAUSAL:
                seen = seen & (rows[:, None] >= at[None, :])
            p = tl.where(seen, p, 0.0)
        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        ds = p * (dp - delta[:, None])
        dquery = tl.dot(ds.to(key.dtype), key, dquery, input_precision="ieee")
    return dquery


@triton.jit
def dq_kernel(
    q, k, v, dout, logsumexp, delta, dq, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """The gradient of q: one program for BLOCK_M queries of one head."""
    block = tl.program_id(0)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block
    first = block * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64) * length
    k += head * D
    v += head * D
    query = tile_at(q + head * D, first, length, BLOCK_M, D, EVEN)
    do = tile_at(dout + head * D, first, length, BLOCK_M, D, EVEN)
    lse = numbers_at(logsumexp + head, first, length, BLOCK_M, EVEN)
    subtracted = numbers_at(delta + head, first, length, BLOCK_M, EVEN)
    dquery = tl.zeros((BLOCK_M, D), tl.float32)
    factor = scale * LOG2E
    whole = keys_seen_by_all(first, length, CAUSAL, BLOCK_N)
    dquery = descend(
        dquery, query, do, lse, subtracted, k, v, rows, 0, whole, length, factor, CAUSAL, False, BLOCK_N, D
    )  # fmt: skip
    if CAUSAL or not EVEN:
        end = min(length, first + BLOCK_M) if CAUSAL else length
        dquery = descend(
            dquery, query, do, lse, subtracted, k, v, rows, whole, end, length, factor, CAUSAL, True, BLOCK_N, D
        )  # fmt: skip
    put_at(dq + head * D, first, length, dquery * scale, BLOCK_M, D)


@triton.jit
def gather_from(
    dkey, dvalue, key, value, q, dout, logsumexp, delta, at, begin, end, length, factor,
    DIAGONAL: tl.constexpr, BLOCK_M: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """Add the contribution of the queries from `begin` to `end` to the gradients of keys and values.

    Queries beyond the end add nothing: their rows of dout and delta are 0.
    """
    for start in range(begin, end, BLOCK_M):
        query = tile_at(q, start, length, BLOCK_M, D, EVEN)
        lse = numbers_at(logsumexp, start, length, BLOCK_M, EVEN)
        p = tl.exp2(tl.dot(key, tl.trans(query), input_precision="ieee") * factor - lse[None, :])
        if DIAGONAL:
            rows = start + tl.arange(0, BLOCK_M)
            p = tl.where(rows[None, :] >= at[:, None], p, 0.0)
        do = tile_at(dout, start, length, BLOCK_M, D, EVEN)
        dvalue = tl.dot(p.to(do.dtype), do, dvalue, input_precision="ieee")
        dp = tl.dot(value, tl.trans(do), input_precision="ieee")
        ds = p * (dp - numbers_at(delta, start, length, BLOCK_M, EVEN)[None, :])
        dkey = tl.dot(ds.to(query.dtype), query, dkey, input_precision="ieee")
    return dkey, dvalue


@triton.jit
def dkdv_kernel(
    q, k, v, dout, logsumexp, delta, dk, dv, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """The gradients of k and v: one program for BLOCK_N keys of one head."""
    first = tl.program_id(0) * BLOCK_N
    at = first + tl.arange(0, BLOCK_N)
    head = tl.program_id(1).to(tl.int64) * length
    q += head * D
    dout += head * D
    logsumexp += head
    delta += head
    key = tile_at(k + head * D, first, length, BLOCK_N, D, EVEN)
    value = tile_at(v + head * D, first, length, BLOCK_N, D, EVEN)
    dkey = tl.zeros((BLOCK_N, D), tl.float32)
    dvalue = tl.zeros((BLOCK_N, D), tl.float32)
    factor = scale * LOG2E
    begin = 0
    if CAUSAL:
        begin = tl.cdiv(first + BLOCK_N, BLOCK_M) * BLOCK_M
        dkey, dvalue = gather_from(
            dkey, dvalue, key, value, q, dout, logsumexp, delta, at, first // BLOCK_M * BLOCK_M, min(begin, length),
            length, factor, True, BLOCK_M, D, EVEN,
        )  # fmt: skip
    dkey, dvalue = gather_from(
        dkey, dvalue, key, value, q, dout, logsumexp, delta, at, begin, length, length, factor, False, BLOCK_M, D, EVEN
    )  # fmt: skip
    put_at(dk + head * D, first, length, dkey * scale, BLOCK_N, D)
    put_at(dv + head * D, first, length, dvalue, BLOCK_N, D)


FORWARD = [
    *configs(BLOCK_M=(128,), BLOCK_N=(64, 128), num_warps=(4, 8), num_stages=(2, 3)),
    *configs(BLOCK_M=(128,), BLOCK_N=(32,), num_warps=(4,), num_stages=(3, 4)),
    *configs(BLOCK_M=(64,), BLOCK_N=(64, 128), num_warps=(4,), num_stages=(2, 3)),
    *configs(BLOCK_M=(64,), BLOCK_N=(32,)),
]
QUERIES = [
    *configs(BLOCK_M=(128,), BLOCK_N=(32, 64, 128), num_warps=(8,), num_stages=(2, 3)),
    *configs(BLOCK_M=(128,), BLOCK_N=(32, 64), num_warps=(4,), num_stages=(2, 3)),
    *configs(BLOCK_M=(64,), BLOCK_N=(32, 64, 128), num_warps=(4,), num_stages=(2, 3)),
]
KEYS = [
    *configs(BLOCK_M=(32, 64, 128), BLOCK_N=(128,), num_warps=(8,), num_stages=(2, 3)),
    *configs(BLOCK_M=(32, 64), BLOCK_N=(128,), num_warps=(4,), num_stages=(2, 3)),
    *configs(BLOCK_M=(32, 64, 128), BLOCK_N=(64,), num_warps=(4,), num_stages=(2, 3)),
]
EVEN = triton.heuristics(
    {"EVEN": lambda named: named["length"] % named["BLOCK_M"] == named["length"] % named["BLOCK_N"] == 0}
)


def tuned(kernel: Any, candidates: list[Any]) -> Any:
    """A kernel that chooses its tiles."""
    pruning = {"early_config_prune": worth_trying}
    return triton.autotune(candidates, ["length", "CAUSAL", "D"], prune_configs_by=pruning)(EVEN(kernel))


forward = tuned(forward_kernel, FORWARD)
of_queries = tuned(dq_kernel, QUERIES)
of_keys = tuned(dkdv_kernel, KEYS)


def attention(q: Any, k: Any, v: Any, causal: bool = False, scale: float | None = None) -> tuple[Any, Any]:
    """The result, and log2 of each row's sum of exponentials, for contiguous (batch, heads, length, D) arrays.

    `scale` must be positive, and defaults to 1 / sqrt(D).
    """
    check_heads(q=q, k=k, v=v)
    out, logsumexp = empty_like(q), empty_like(q, q.shape[:3], "float32")
    launch(forward, "BLOCK_M", (q, k, v, out, logsumexp), causal, scale)
    return out, logsumexp


def attention_backward(
    dout: Any, q: Any, k: Any, v: Any, out: Any, logsumexp: Any, causal: bool = False, scale: float | None = None
) -> tuple[Any, Any, Any]:
    """The gradients of q, k and v, from the gradient of the result and the results of `attention`."""
    check_heads(q=q, k=k, v=v, out=out, dout=dout)
    check_statistics("logsumexp", logsumexp, tuple(q.shape[:3]), "q", q)
    batch, heads, length, size = q.shape
    delta = empty_like(out, tuple(out.shape[:3]), "float32")
    delta_kernel[(triton.cdiv(length, 64), batch * heads)](out, dout, delta, length, BLOCK_M=64, D=size)
    dq, dk, dv = empty_like(q), empty_like(k), empty_like(v)
    given = (q, k, v, dout, logsumexp, delta)
    launch(of_queries, "BLOCK_M", (*given, dq), causal, scale)
    launch(of_keys, "BLOCK_N", (*given, dk, dv), causal, scale)
    return dq, dk, dv


def launch(kernel: Any, block: str, arrays: tuple[Any, ...], causal: bool, scale: float | None) -> None:
    """Launch a kernel on arrays, q first: one program for each tile of rows of each head."""
    batch, heads, length, size = arrays[0].shape
    factor = size**-0.5 if scale is None else float(scale)
    if factor <= 0:
        raise ValueError(f"scale must be positive, not {scale}")
    grid = lambda meta: (triton.cdiv(length, meta[block]), batch * heads)  # noqa: E731
    kernel[grid](*arrays, factor, length, CAUSAL=bool(causal), D=size)
