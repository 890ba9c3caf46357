"""Block pointers, which Triton has up to version 3.7."""

import triton
import triton.language as tl


@triton.jit
def block_scaled(out, x, M, N, scale, ORDER: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    source = tl.make_block_ptr(x, (M, N), (N, 1), (-3, 0), (BLOCK_M, BLOCK_N), ORDER)
    target = tl.make_block_ptr(out, (M, N), (N, 1), (-3, 0), (BLOCK_M, BLOCK_N), order=ORDER)
    for _ in range(0, N, BLOCK_N):
        values = tl.load(source, boundary_check=(0, 1), padding_option="zero").to(tl.float32) * scale
        tl.store(target, values.to(target.dtype.element_ty), boundary_check=(0, 1))
        source = source.advance((0, BLOCK_N))
        target = tl.advance(target, [0, BLOCK_N])
    tl.static_assert(target.dtype == target.type)
    tl.static_assert(target.type.element_ty.shape[1] == BLOCK_N)
    tl.static_assert(target.type.element_ty.element_ty == out.dtype.element_ty)


@triton.jit
def block_at(x, n, first, BLOCK: tl.constexpr):
    return tl.make_block_ptr(x, (n,), (1,), (first,), (BLOCK,), (0,))


@triton.jit
def block_sum(block, count, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(count):
        total += tl.load(block, boundary_check=(0,), padding_option="zero")
        block = tl.advance(block, (BLOCK,))
    return total, block


@triton.jit
def block_helpers(out, x, n, first, BLOCK: tl.constexpr):
    block = block_at(x, n, 0, BLOCK)
    if first > 0:
        block = tl.advance(block, (first,))
    while first < 10:
        block = block.advance((2,))
        first += 1
    total, block = block_sum(block, 3, BLOCK)
    rest = tl.load(block, boundary_check=(0,), padding_option="zero")
    tl.store(block_at(out, 2 * BLOCK, 0, BLOCK), total)
    tl.store(block_at(out, 2 * BLOCK, BLOCK, BLOCK), rest.to(out.dtype.element_ty))


@triton.jit
def block_cube(out, x, K, M, N, PADDING: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    source = tl.make_block_ptr(x, (K, M, N), (M * N, N, 1), (0, -1, 0), (A, B, C), (2, 1, 0))
    for k in tl.static_range(0, 2):
        block = tl.load(source, boundary_check=(0, 1, 2), padding_option=PADDING)
        strides = (A * B * C, B * C, C, 1)
        target = tl.make_block_ptr(out, (2, A, B, C), strides, (k, 0, 0, 0), (1, A, B, C), (3, 2, 1, 0))
        tl.store(target, block[None, :, :, :])
        source = tl.advance(source, (A, 0, 0))
