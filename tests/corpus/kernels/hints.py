"""Hints from a kernel to the compiler, and prints."""

import triton
import triton.language as tl


@triton.jit
def promises(out, x, n, stride, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    tl.assume(stride % 16 == 0)
    stride = tl.multiple_of(stride, 16)
    start = tl.multiple_of(tl.program_id(0) * stride, 16)
    at = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    same = tl.max_constancy(at // BLOCK, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + same, mask=at < n)


@triton.jit
def messages(out, x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    tl.device_print("program", tl.program_id(0))
    tl.device_print("values", values, at, hex=True)
    tl.device_assert(at >= 0, "never negative")
    tl.static_print("BLOCK =", BLOCK)
    tl.static_assert(BLOCK >= 16)
    assert n > 0, "nothing to do"
    tl.store(out + at, values, mask=at < n)
