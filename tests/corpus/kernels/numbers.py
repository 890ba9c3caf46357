"""Arithmetic of every dtype."""

import triton
import triton.language as tl


@triton.jit
def integer_arithmetic(out, unsigned_out, x, y, u, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at) | 1
    c = tl.load(u + at)
    result = a // b + a % b - (a << 3) + (a >> 2) * (-b) ^ ~a
    result += (a > b).to(tl.int32) + (a <= b) + (a != b) - (a >= 3) + (2 < b)
    tl.store(out + at, result)
    unsigned = c // 7 + c % 5 + (c >> 3) + (c << 1) + (c > 1000) + tl.umulhi(c, c + 1)
    unsigned ^= c.to(tl.uint16).to(tl.uint32) | (a.to(tl.uint32, bitcast=True) & 0xFF)
    tl.store(unsigned_out + at, unsigned)
    tl.store(out + BLOCK + at, tl.minimum(a, b) - tl.maximum(a, b) + tl.abs(a) + tl.cdiv(a, 3) + tl.where(a > b, 1, b))


@triton.jit
def narrow_integers(out, bytes, words, BLOCK: tl.constexpr):
    """Operations on integers of 8 and 16 bits, and sums of such integers."""
    at = tl.arange(0, BLOCK)
    a = tl.load(bytes + at)
    b = tl.load(words + at)
    sums = (a + a).to(tl.int32) + (a * 3).to(tl.int32) + (a + b).to(tl.int32) + (b + at)
    unsigned = a.to(tl.uint8)
    sums += (unsigned + 200).to(tl.int32) + (unsigned + b).to(tl.int32) + (unsigned > 127).to(tl.int32)
    sums += (unsigned * (b > 0)).to(tl.int32)
    wide = a.to(tl.int64) * b.to(tl.int64) + (1 << 40)
    tl.store(out + at, sums + wide.to(tl.int32) + (wide >> 32).to(tl.int32))


@triton.jit
def float_arithmetic(out, x, y, h, b, d, scale, BLOCK: tl.constexpr):
    """Operations on fp64, fp32, fp16 and bf16, with each other and with Python numbers."""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    c = tl.load(y + at)
    half = tl.load(h + at)
    brain = tl.load(b + at)
    double = tl.load(d + at)
    halves = half * 2 + 0.5 - half / 3
    brains = brain * brain + 1 - (brain > 0.5)
    mixed = half * a + brain + at * 0.25 + scale * half
    result = mixed + halves + brains.to(tl.float32) + (half * brain)
    result += tl.where(a > c, half, 1.0) + a / c + a % c + (at / (at + 1)) - (-a)
    tl.store(out + at, result)
    tl.store(d + at, double * a + double / 3 + half + 1e300 * (a > 1e9) + (double == c))


@triton.jit
def eight_bit_floats(out, x, codes, BLOCK: tl.constexpr):
    """Casts to and from e5m2, and its bits."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    small = values.to(tl.float8e5)
    tl.store(out + at, small.to(tl.float32) + small.to(tl.float16) + small.to(tl.bfloat16))
    read = tl.load(codes + at)
    tl.store(out + BLOCK + at, read.to(tl.float32) * 2)
    bits = small.to(tl.uint8, bitcast=True)
    tl.store(codes + at, (bits ^ 0x80).to(tl.float8e5, bitcast=True))
    truncated = (values * 1.25).to(tl.float16, fp_downcast_rounding="rtz")
    tl.store(out + 2 * BLOCK + at, truncated)


@triton.jit
def unpack_four_bits(out, words, scale, zero, n, BLOCK: tl.constexpr):
    """Two 4-bit numbers in a byte."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(words + at, mask=at < n, other=0)
    low = (word & 0xF).to(tl.float32)
    high = ((word >> 4) & 0xF).to(tl.float32)
    both = tl.interleave((low - zero) * scale, (high - zero) * scale)
    place = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    tl.store(out + place, both, mask=place < 2 * n)


@triton.jit
def special_values(out, x, BLOCK: tl.constexpr):
    """Infinities, NaN, numbers too large and too small for fp32."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    nothing = float("nan")
    result = tl.where(values > float("inf"), nothing, values)
    result = tl.where(values != values, -float("inf"), result)
    result = tl.where(result == 0.0, 1.0e-40, result)
    result = tl.minimum(result, 3.4e38, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + at, tl.maximum(result, -1.0e30) + tl.full([BLOCK], 1.0e-30, tl.float32))
