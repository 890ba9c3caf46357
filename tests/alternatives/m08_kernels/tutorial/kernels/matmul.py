@triton.jit
def activate(x, ACTIVATION: tl.constexpr):
    """An activation of numbers of any shape."""
    if ACTIVATION == "relu":
        x = tl.maximum(x, 0)
    if ACTIVATION == "leaky_relu":
        x = tl.maximum(x, 0) + 0.01 * tl.minimum(x, 0)
    return x


def tile_of(program, tiles_m, tiles_n, GROUP: tl.constexpr):
    return tl.swizzle2d(program // tiles_n, program % tiles_n, tiles_m, tiles_n, GROUP)


def matmul_kernel(
    a, b, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr, TOTAL: tl.constexpr,
):  # fmt: skip
    pid_m, pid_n = tile_of(tl.program_id(axis=0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)

    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    in_m, in_n = rows[:, None] < M, columns[None, :] < N
    a_rows = a + rows[:, None] * stride_am
    b_columns = b + columns[None, :] * stride_bn

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a_tile = tl.load(a_rows + inner[None, :] * stride_ak, mask=in_m & (inner[None, :] < K), other=0)
        b_tile = tl.load(b_columns + inner[:, None] * stride_bk, mask=in_n & (inner[:, None] < K), other=0)
        accumulator = tl.dot(a_tile, b_tile, acc=accumulator, input_precision="ieee", out_dtype=TOTAL)

    accumulator = activate(accumulator, ACTIVATION)
    c_tile = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_tile, accumulator.to(c.dtype.element_ty), mask=in_m & in_n)
