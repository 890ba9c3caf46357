"""The kernels of task 3.7. Tests compare modules that are built by hand with these kernels' modules."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """out = x + y, one block of elements for each program."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


@triton.jit
def matmul_kernel(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """c = a @ b, one tile of c for each program, summed in fp32 along K."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_tile = a + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_tile = b + inner[:, None] * stride_bk + columns[None, :] * stride_bn

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        x = tl.load(a_tile, mask=(rows[:, None] < M) & (inner[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=(inner[:, None] < left) & (columns[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk

    c_tile = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_tile, total.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))
