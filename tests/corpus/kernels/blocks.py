"""Block pointers, which Triton has up to version 3.7."""

import triton
import triton.language as tl


@triton.jit
def block_copy(out, x, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    first = (tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N)
    source = tl.make_block_ptr(x, (M, N), (N, 1), first, (BLOCK_M, BLOCK_N), (1, 0))
    target = tl.make_block_ptr(
        base=out,
        shape=(N, M),
        strides=(1, N),
        offsets=(first[1], first[0]),
        block_shape=(BLOCK_N, BLOCK_M),
        order=(0, 1),
    )
    values = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, values.T, boundary_check=(0, 1))


@triton.jit
def block_row_sums(out, x, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    source = tl.make_block_ptr(x, (M, N), (N, 1), (row, 0), (BLOCK_M, BLOCK_N), (1, 0))
    total = tl.zeros((BLOCK_M,), tl.float32)
    for _ in range(0, N, BLOCK_N):
        total += tl.sum(tl.load(source, boundary_check=(0, 1), padding_option="zero").to(tl.float32), 1)
        source = tl.advance(source, (0, BLOCK_N))
    target = tl.make_block_ptr(out, (M,), (1,), (row,), (BLOCK_M,), (0,))
    tl.store(target, total, boundary_check=(0,))


@triton.jit
def block_matmul(
    a, b, c, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    a_tile = tl.make_block_ptr(a, (M, K), (stride_a, 1), (m, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_tile = tl.make_block_ptr(b, (K, N), (stride_b, 1), (0, n), (BLOCK_K, BLOCK_N), (1, 0))
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        x = tl.load(a_tile, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(b_tile, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(x, y, total)
        a_tile = tl.advance(a_tile, (0, BLOCK_K))
        b_tile = tl.advance(b_tile, (BLOCK_K, 0))
    c_tile = tl.make_block_ptr(c, (M, N), (stride_c, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_tile, total.to(tl.float16), boundary_check=(0, 1))
