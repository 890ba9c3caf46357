"""Matrix product in tiles, without masks where K is a multiple of them. See `kernels.matmul`.

Tensor cores take bytes only from tiles whose K is contiguous. A matrix of bytes that is not is transposed before,
which moves few bytes beside what the product would otherwise lose.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.fast.device import multiprocessors
from kernels.host import check, check_alike, describe, empty_like, on_gpu, strides_of
from kernels.matmul import DTYPES, tile_of
from kernels.tuned import configs, worth_trying


@triton.jit
def transpose_kernel(out, x, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """out[j, i] = x[i, j] for a tile of a contiguous x."""
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(tile), mask=tl.trans(inside))


@triton.jit
def tiles_at(
    a, b, rows, columns, start, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_K: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """The tiles of both operands whose k begins at `start`. EVEN: K is a multiple of BLOCK_K."""
    k = start + tl.arange(0, BLOCK_K)
    # Beyond the edges, `%` takes other rows and columns instead of a mask: they are not stored.
    places_a = a + (rows % M)[:, None] * stride_am + k[None, :] * stride_ak
    places_b = b + k[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
    if EVEN:
        return tl.load(places_a), tl.load(places_b)
    else:
        x = tl.load(places_a, mask=k[None, :] < K, other=0)
        return x, tl.load(places_b, mask=k[:, None] < K, other=0)


@triton.jit
def put(c, total, rows, columns, M, N, stride_cm, stride_cn):
    """Store a tile of the result."""
    place = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(place, total.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, EVEN: tl.constexpr,
    KIND: tl.constexpr, TOTAL: tl.constexpr,
):  # fmt: skip
    """c = a @ b, one tile of c a program, or if it stays several."""
    tiles_m, tiles_n, steps = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), tl.cdiv(K, BLOCK_K)
    tile = tl.program_id(0)
    programs = tl.num_programs(0)
    tile_m, tile_n = tile_of(tile, tiles_m, tiles_n, GROUP)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)
    if KIND == "one":
        rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        for k in range(0, steps):
            x, y = tiles_at(
                a, b, rows, columns, k * BLOCK_K, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_K, EVEN
            )  # fmt: skip
            total = tl.dot(x, y, total, input_precision="ieee", out_dtype=TOTAL)
        put(c, total, rows, columns, M, N, stride_cm, stride_cn)
    elif KIND == "flat":
        for i in range(0, tl.cdiv(tiles_m * tiles_n - tile, programs) * steps):
            k = i % steps
            tile_m, tile_n = tile_of(tile + i // steps * programs, tiles_m, tiles_n, GROUP)
            rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
            x, y = tiles_at(
                a, b, rows, columns, k * BLOCK_K, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_K, EVEN
            )  # fmt: skip
            total = tl.dot(x, y, total, input_precision="ieee", out_dtype=TOTAL)
            if k == steps - 1:
                put(c, total, rows, columns, M, N, stride_cm, stride_cn)
                total = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)
    else:
        k = 0
        for _ in range(0, tl.cdiv(tiles_m * tiles_n - tile, programs) * steps):
            if k == steps:
                k = 0
                tile += programs
                tile_m, tile_n = tile_of(tile, tiles_m, tiles_n, GROUP)
            rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
            x, y = tiles_at(
                a, b, rows, columns, k * BLOCK_K, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_K, EVEN
            )  # fmt: skip
            total = tl.dot(x, y, total, input_precision="ieee", out_dtype=TOTAL)
            k += 1
            if k == steps:
                put(c, total, rows, columns, M, N, stride_cm, stride_cn)
                total = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)


ONE = {"KIND": ("one",)}
STAY = {"KIND": ("flat", "carried")}
TILES = [
    *configs(BLOCK_M=(128,), BLOCK_N=(256,), BLOCK_K=(64,), GROUP=(4, 8, 16), **ONE, num_warps=(8,), num_stages=(3, 4)),
    *configs(BLOCK_M=(128,), BLOCK_N=(256,), BLOCK_K=(64,), GROUP=(8,), **STAY, num_warps=(8,), num_stages=(3, 4)),
    *configs(BLOCK_M=(128,), BLOCK_N=(256,), BLOCK_K=(128,), GROUP=(8,), **ONE, num_warps=(8,), num_stages=(3,)),
    *configs(BLOCK_M=(128,), BLOCK_N=(128,), BLOCK_K=(64, 128), GROUP=(8,), **ONE, num_warps=(8,), num_stages=(3, 4)),
    *configs(BLOCK_M=(128,), BLOCK_N=(128,), BLOCK_K=(128,), GROUP=(8,), **STAY, num_warps=(8,), num_stages=(3,)),
    *configs(BLOCK_M=(64,), BLOCK_N=(256,), BLOCK_K=(32,), GROUP=(8,), **ONE, num_warps=(4,), num_stages=(4, 5)),
    *configs(BLOCK_M=(64,), BLOCK_N=(256,), BLOCK_K=(64,), GROUP=(8,), **ONE, num_warps=(4,), num_stages=(2,)),
    *configs(BLOCK_M=(64,), BLOCK_N=(64,), BLOCK_K=(32,), GROUP=(8,), **ONE),
]
EVEN = triton.heuristics({"EVEN": lambda named: named["K"] % named["BLOCK_K"] == 0})

tuned = triton.autotune(
    TILES, ["M", "N", "K", "stride_ak", "stride_bk"], prune_configs_by={"early_config_prune": worth_trying}
)(EVEN(matmul_kernel))
transposes = triton.autotune(
    configs(BLOCK_M=(64, 128), BLOCK_N=(64, 128), num_warps=(4, 8)), ["rows", "columns"]
)(transpose_kernel)  # fmt: skip


def transposed(x: Any) -> Any:
    """A copy of a contiguous matrix, transposed."""
    rows, columns = x.shape
    out = empty_like(x, (columns, rows))
    grid = lambda meta: (triton.cdiv(rows, meta["BLOCK_M"]), triton.cdiv(columns, meta["BLOCK_N"]))  # noqa: E731
    transposes[grid](out, x, rows, columns)
    return out


def matmul(a: Any, b: Any) -> Any:
    """`a @ b` of an (M, K) and a (K, N) matrix of fp16, bf16, fp32 or int8, whose result is int32."""
    check("a", a, rank=2, dtypes=DTYPES)
    check("b", b, rank=2, dtypes=DTYPES)
    check_alike("b", b, "a", a)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {describe(a)}, b is {describe(b)}: a must have as many columns as b has rows")
    integers = "int8" in str(a.dtype)
    if integers and on_gpu(a) and strides_of(b)[1] == 1:
        b = transposed(b).T
    (m, k), n = a.shape, b.shape[1]
    c = empty_like(a, (m, n), "int32" if integers else None)
    processors = multiprocessors()

    def grid(meta: Any) -> tuple[int]:
        tiles = triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"])
        return (tiles if meta["KIND"] == "one" else min(tiles, processors),)

    total = tl.int32 if integers else tl.float32
    tuned[grid](a, b, c, m, n, k, *strides_of(a), *strides_of(b), *strides_of(c), TOTAL=total)
    return c
