"""Product of int8 matrices, with sums in int32. `kernels.matmul` also supports wider dtypes.

Tensor cores take bytes only from tiles that are contiguous along K. If b is not contiguous along K, it is transposed
first. This transposition costs much less time than it saves.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, describe, empty_like, on_gpu, strides_of
from kernels.matmul import tile_of
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
def matmul_kernel(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """c = a @ b, one tile of c per program. EVEN: K is a multiple of BLOCK_K, so no load is masked."""
    tile_m, tile_n = tile_of(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        # Beyond the edges of c, `%` replaces a mask: it loads other rows and columns, which are not stored.
        a_tile = a + (rows % M)[:, None] * stride_am + k[None, :] * stride_ak
        b_tile = b + k[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
        if EVEN:
            x, y = tl.load(a_tile), tl.load(b_tile)
        else:
            x = tl.load(a_tile, mask=k[None, :] < K, other=0)
            y = tl.load(b_tile, mask=k[:, None] < K, other=0)
        total = tl.dot(x, y, total, out_dtype=tl.int32)
    place = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(place, total, mask=(rows[:, None] < M) & (columns[None, :] < N))


TILES = [
    *configs(BLOCK_M=(128,), BLOCK_N=(128, 256), BLOCK_K=(128,), GROUP=(8,), num_warps=(8,), num_stages=(3, 4)),
    *configs(BLOCK_M=(128,), BLOCK_N=(128,), BLOCK_K=(64,), GROUP=(8,), num_warps=(4, 8), num_stages=(4,)),
    *configs(BLOCK_M=(64,), BLOCK_N=(64,), BLOCK_K=(32,), GROUP=(8,)),
]
EVEN = triton.heuristics({"EVEN": lambda named: named["K"] % named["BLOCK_K"] == 0})

tuned = triton.autotune(TILES, ["M", "N", "K", "stride_bk"], prune_configs_by={"early_config_prune": worth_trying})(
    EVEN(matmul_kernel)
)
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
    """`a @ b` of an (M, K) and a (K, N) matrix of int8, as int32."""
    check("a", a, rank=2, dtypes=("int8",))
    check("b", b, rank=2, dtypes=("int8",))
    check_alike("b", b, "a", a)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {describe(a)} and b is {describe(b)}: a must have as many columns as b has rows")
    if on_gpu(a) and strides_of(b)[1] == 1:
        b = transposed(b).T
    (m, k), n = a.shape, b.shape[1]
    c = empty_like(a, (m, n), "int32")
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)  # noqa: E731
    tuned[grid](a, b, c, m, n, k, *strides_of(a), *strides_of(b), *strides_of(c))
    return c
