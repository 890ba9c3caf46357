"""Product of 16-bit matrices with few tiles and a long K axis, which several programs share (split-K).

One program per tile would leave most multiprocessors of a GPU idle. Here SPLIT programs compute each tile, and each of
them takes every SPLIT-th block of K. A second kernel adds up their sums, always in the same order, so equal inputs give
equal results. With atomic additions, the order would vary.

Source: Triton's `triton/ops/matmul.py` (until version 2), which adds with atomics.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, describe, empty_like, strides_of
from kernels.matmul import tile_of
from kernels.tuned import configs, worth_trying

SPLITS = (4, 8, 16)


@triton.jit
def parts_kernel(
    a, b, parts, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """parts[i] = a @ b, but only blocks i, i + SPLIT, i + 2 * SPLIT, ... of K. One tile of a part per program."""
    tile_m, tile_n = tile_of(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    part = tl.program_id(1)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = part * BLOCK_K + tl.arange(0, BLOCK_K)
    # Beyond the edges of a part, `%` replaces a mask: it loads other rows and columns, which are not stored.
    a_tile = a + (rows % M)[:, None] * stride_am + inner[None, :] * stride_ak
    b_tile = b + inner[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K - part * BLOCK_K, SPLIT * BLOCK_K):
        x = tl.load(a_tile, mask=inner[None, :] < K - k, other=0.0)
        y = tl.load(b_tile, mask=inner[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
        a_tile += SPLIT * BLOCK_K * stride_ak
        b_tile += SPLIT * BLOCK_K * stride_bk
    place = parts + part.to(tl.int64) * M * N + rows[:, None] * N + columns[None, :]
    tl.store(place, total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def sum_kernel(c, parts, size, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    """c = the sum of SPLIT parts with `size` elements each."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in tl.static_range(SPLIT):
        total += tl.load(parts + at, mask=at < size, other=0.0)
        parts += size
    tl.store(c + at, total.to(c.dtype.element_ty), mask=at < size)


COMMON = {"BLOCK_K": (64,), "GROUP": (8,), "SPLIT": SPLITS}
TILES = [
    *configs(BLOCK_M=(64,), BLOCK_N=(256,), num_warps=(4,), num_stages=(4,), **COMMON),
    *configs(BLOCK_M=(128,), BLOCK_N=(128,), num_warps=(4,), num_stages=(3,), **COMMON),
    *configs(BLOCK_M=(128,), BLOCK_N=(128, 256), num_warps=(8,), num_stages=(4,), **COMMON),
]
products = triton.autotune(TILES, ["M", "N", "K"], prune_configs_by={"early_config_prune": worth_trying})(parts_kernel)
sums = triton.autotune(configs(BLOCK=(512, 1024)), ["size", "SPLIT"])(sum_kernel)


def matmul(a: Any, b: Any) -> Any:
    """`a @ b` of an (M, K) and a (K, N) matrix of fp16 or bf16."""
    for name, x in (("a", a), ("b", b)):
        check(name, x, rank=2, dtypes=("float16", "bfloat16"))
    check_alike("b", b, "a", a)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {describe(a)} and b is {describe(b)}: a must have as many columns as b has rows")
    (m, k), n = a.shape, b.shape[1]
    c, parts = empty_like(a, (m, n)), empty_like(a, (max(SPLITS), m, n), "float32")

    def grid(meta: dict[str, int]) -> tuple[int, int]:
        return triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]), meta["SPLIT"]

    products[grid](a, b, parts, m, n, k, *strides_of(a), *strides_of(b))
    split = products.best_config.kwargs["SPLIT"]
    sums[lambda meta: (triton.cdiv(m * n, meta["BLOCK"]),)](c, parts, m * n, split)
    return c
