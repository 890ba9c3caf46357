"""Matrix products of many kinds, and a convolution."""

import triton
import triton.language as tl


@triton.jit
def tile_of(program, tiles_m, tiles_n, GROUP: tl.constexpr):
    """The tile of a program. Tiles of a group of rows come first, so their operands are still in the cache."""
    first = program // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    return first + program % (GROUP * tiles_n) % height, program % (GROUP * tiles_n) // height


@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.jit
def matmul_grouped(
    a, b, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr = 8, ACTIVATION: tl.constexpr = None,
):  # fmt: skip
    """c = activation(a @ b). The activation is a function or None."""
    tile_m, tile_n = tile_of(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP)
    tl.assume(tile_m >= 0)
    tl.assume(tile_n >= 0)
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_tile = a + (rows[:, None] * stride_am + inner[None, :] * stride_ak)
    b_tile = b + (inner[:, None] * stride_bk + columns[None, :] * stride_bn)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(a_tile, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        y = tl.load(b_tile, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        total = tl.dot(x, y, total)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk
    if ACTIVATION is not None:
        total = ACTIVATION(total)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    place = c + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def batched_dot(out, a, b, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)[None, :, None]
    n = tl.arange(0, N)[None, None, :]
    x = tl.load(a + (i * M + m) * K + tl.arange(0, K)[None, None, :])
    y = tl.load(b + (i * K + tl.arange(0, K)[None, :, None]) * N + n)
    tl.store(out + (i * M + m) * N + n, tl.dot(x, y, input_precision="ieee"))


@triton.jit
def dot_dtypes(out, a, b, A: tl.constexpr, K: tl.constexpr):
    """int8 by int8; fp8 by fp8; fp16 into fp16; tf32 three times."""
    rows = tl.arange(0, A)[:, None]
    columns = tl.arange(0, A)[None, :]
    inner = tl.arange(0, K)
    x = tl.load(a + rows * K + inner[None, :])
    y = tl.load(b + inner[:, None] * A + columns)
    total = tl.dot(x.to(tl.int8), y.to(tl.int8)).to(tl.float32)
    total += tl.dot(x.to(tl.float16).to(tl.float8e5), y.to(tl.float16).to(tl.float8e5))
    total += tl.dot(x.to(tl.float16), y.to(tl.float16), out_dtype=tl.float16)
    total += tl.dot(x.to(tl.float32), y.to(tl.float32), input_precision="tf32x3")
    total += tl.dot(x.to(tl.bfloat16), y.to(tl.bfloat16), allow_tf32=False)
    tl.store(out + rows * A + columns, total)


@triton.jit
def conv2d_direct(out, x, w, C, H, W, K, P, Q, stride, padding, R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr):
    image = tl.program_id(0) // K
    channel = tl.program_id(0) % K
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    p = at // Q
    q = at % Q
    total = tl.zeros([BLOCK], tl.float32)
    for c in range(C):
        for r in tl.static_range(R):
            for s in tl.static_range(S):
                h = p * stride - padding + r
                v = q * stride - padding + s
                inside = (at < P * Q) & (h >= 0) & (h < H) & (v >= 0) & (v < W)
                values = tl.load(x + ((image * C + c) * H + h) * W + v, mask=inside, other=0.0)
                total += values * tl.load(w + ((channel * C + c) * R + r) * S + s)
    tl.store(out + (image * K + channel) * P * Q + at, total, mask=at < P * Q)
