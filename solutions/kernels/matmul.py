"""Matrix product in tiles, grouped so that tiles computed at the same time share operands in the cache.

Source: Triton's tutorial 03, "Matrix Multiplication".
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, describe, empty_like, on_gpu, strides_of, unless_tuned

ACTIVATIONS = ("", "relu", "leaky_relu")
DTYPES = ("float16", "bfloat16", "float32", "int8")


@triton.jit
def tile_of(program, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Row and column of the tile that a program computes, among `tiles_m` rows and `tiles_n` columns of tiles.

    A group consists of GROUP rows of tiles. Programs go down the first column of a group, then down the next column,
    and so on; after the last column, they go to the next group. With 3 by 2 tiles and GROUP = 2, programs 0 to 5
    compute (0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1).
    """
    # [task 8.4] Derive one rule for all programs from the order above. For a second example, with 5 by 4 tiles and
    # GROUP = 3, see the picture in the chapter.
    first = program // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    return first + program % (GROUP * tiles_n) % height, program % (GROUP * tiles_n) // height
    # [end]


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr, TOTAL: tl.constexpr,
):  # fmt: skip
    """c = ACTIVATION(a @ b), one tile of c per program. a is M by K, and b is K by N. Sums have dtype TOTAL."""
    # [task 8.5] M, N and K need not be multiples of the tile sizes. Element (i, j) of a is at offset `i * stride_am +
    # j * stride_ak` from the start of a; the other strides are those of b and c. ACTIVATION is one of `ACTIVATIONS`,
    # and is applied before the result is rounded to c's dtype: "" changes nothing, "relu" replaces negative elements
    # with 0, and "leaky_relu" multiplies them by 0.01. `tl.dot` needs input_precision="ieee". Given: `tile_of` (8.4),
    # which takes the program's id along axis 0.
    tile_m, tile_n = tile_of(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    # Beyond the edges of c, `%` replaces a mask: it loads other rows and columns, which are not stored.
    a_tile = a + (rows % M)[:, None] * stride_am + inner[None, :] * stride_ak
    b_tile = b + inner[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(a_tile, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        y = tl.load(b_tile, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee", out_dtype=TOTAL)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk

    if ACTIVATION == "relu":
        total = tl.maximum(total, 0.0)
    elif ACTIVATION == "leaky_relu":
        total = tl.where(total >= 0, total, 0.01 * total)
    place = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(place, total, mask=(rows[:, None] < M) & (columns[None, :] < N))
    # [end]


def matmul(
    a: Any, b: Any, activation: str = "", tiles: dict[str, int] | None = None, kernel: Any = matmul_kernel
) -> Any:
    """`activation(a @ b)` of an (M, K) and a (K, N) matrix of fp16, bf16, fp32 or int8. For int8, the result is int32.

    `tiles` sets BLOCK_M, BLOCK_N, BLOCK_K, GROUP or launch options. A `kernel` from `kernels.tuned` chooses all of
    these itself.
    """
    check("a", a, rank=2, dtypes=DTYPES)
    check("b", b, rank=2, dtypes=DTYPES)
    check_alike("b", b, "a", a)
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {describe(a)} and b is {describe(b)}: a must have as many columns as b has rows")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(map(repr, ACTIVATIONS))}, not {activation!r}")
    integers = "int8" in str(a.dtype)
    if integers and activation:
        raise TypeError(f"{activation!r} is for floats, but a is {describe(a)}")
    (m, k), n = a.shape, b.shape[1]
    c = empty_like(a, (m, n), "int32" if integers else None)
    chosen = unless_tuned(kernel, **tiles_for(a) | (tiles or {}))
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)  # noqa: E731
    kernel[grid](
        a, b, c, m, n, k, *strides_of(a), *strides_of(b), *strides_of(c),
        ACTIVATION=activation, TOTAL=tl.int32 if integers else tl.float32, **chosen,
    )  # fmt: skip
    return c


def tiles_for(a: Any) -> dict[str, int]:
    """Tiles that suit the device. Three stages of the tiles for tensor cores nearly fill a GPU's shared memory.

    On a CPU, a tile of b fits in a core's first cache, and many rows of a are multiplied by it.
    """
    if not on_gpu(a):
        return {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP": 8}
    if a.itemsize <= 2:
        return {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP": 8, "num_warps": 8, "num_stages": 3}
    return {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8}


if __name__ == "__main__":
    from kernels import demo

    demo.run("matmul")
