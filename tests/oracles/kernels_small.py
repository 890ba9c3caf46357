"""Small kernels for real Triton, each for ops that the larger lack, as in `kernels.py`. Imports Triton."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def cumsum(out, x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at, mask=at < n, other=0.0), axis=0), mask=at < n)


@triton.jit
def step_linear(a_left, b_left, a_right, b_right):
    return a_left * a_right, b_left * a_right + b_right


@triton.jit
def linear_recurrence(out, a, b, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    _, states = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, step_linear, reverse=True)
    tl.store(out + at, states)


@triton.jit
def argmax(values_out, indices_out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    tl.store(values_out + row, tl.max(values, axis=0))
    tl.store(indices_out + row, tl.argmax(values, axis=0))


@triton.jit
def atomics(floats, integers, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    tl.atomic_add(floats + at % 16, values, mask=at < n)
    tl.atomic_max(floats + 16 + at % 16, values, mask=at < n)
    tl.atomic_min(integers + at % 8, at)
    tl.atomic_or(integers + 8, n, sem="relaxed", scope="cta")
    tl.atomic_xchg(integers + 16 + at, at, mask=at < n)
    old = tl.atomic_cas(integers + 9, 0, 1)
    tl.store(integers + 10, old)


@triton.jit
def histogram(out, x, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at, mask=at < n, other=0), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def while_loop(out, x):
    """The length of a Collatz sequence."""
    n = tl.load(x + tl.program_id(0))
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(out + tl.program_id(0), steps)


@triton.jit
def early_return(out, x, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    if start >= n:
        return
    at = start + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@triton.jit
def shapes(out, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tile = tl.trans(tl.reshape(values, (2, BLOCK // 2)))
    left, right = tl.split(tile)
    joined = tl.join(right, left)
    mixed = tl.interleave(left, right) + tl.reshape(joined, (BLOCK,))
    mirrored = tl.gather(mixed, BLOCK - 1 - at, axis=0)
    tl.store(out + at, tl.permute(tl.reshape(mirrored, (2, 2, BLOCK // 4)), (2, 0, 1)).reshape(BLOCK))


@triton.jit
def conversions(out, x, bits, flags, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    words = tl.load(bits + at).to(tl.uint32)
    halves = (words & 0xFFFF).to(tl.int16).to(tl.float16, bitcast=True)
    narrow = tl.load(x + at).to(tl.bfloat16).to(tl.float16)
    tiny = narrow.to(tl.float8e5).to(tl.float32)
    wide = (words >> 3).to(tl.float64) + at.to(tl.int64).to(tl.float64) + (words % 7).to(tl.int8)
    flag = tl.load(flags + at)
    total = tl.where(flag, tiny, halves.to(tl.float32)) + wide.to(tl.float32) + (~words ^ (words << 1)).to(tl.int32)
    tl.store(flags + at, total > 0, mask=at < n)
    tl.store(out + at, total, mask=at < n)


@triton.jit
def math_functions(out, x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at)
    result = tl.exp(a) + tl.exp2(b) + tl.log(a) + tl.log2(b) + tl.sin(a) + tl.cos(b)
    result += tl.sqrt(a) + tl.rsqrt(b) + tl.erf(a) + tl.floor(a) + tl.ceil(b) + tl.abs(a) + tl.sigmoid(b)
    result += tl.fma(a, b, result) + tl.clamp(a, -1.0, 1.0) + tl.sqrt_rn(a) + tl.div_rn(a, b) + a % b
    result += tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL) - (-b)
    tl.store(out + at, tl.where(a != b, result, tl.softmax(a)))


@triton.jit
def grouped_sum(out, addresses, sizes, groups, BLOCK: tl.constexpr):
    """Sums of arrays whose addresses are data."""
    at = tl.arange(0, BLOCK)
    for group in tl.range(tl.program_id(0), groups, tl.num_programs(0), num_stages=2):
        x = tl.load(addresses + group).to(tl.pointer_type(tl.float32))
        size = tl.load(sizes + group)
        total = tl.load(x + at, mask=at < size, other=0.0)
        tl.store(out + group, tl.sum(total, axis=0) if size > 0 else 0.0)


@triton.jit
def hints(out, x, n, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    at = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), BLOCK), BLOCK)
    values = libdevice.tanh(tl.load(x + at, mask=at < n))
    tl.device_print("values: ", values)
    tl.store(out + at, values.to(tl.float8e4nv).to(tl.float32), mask=at < n)


@triton.jit
def sort(out, x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))
