"""Running sums, and scans by other associative functions."""

import triton
import triton.language as tl


@triton.jit
def scan_axes(out, x, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    place = m * N + n
    values = tl.load(x + place)
    tl.store(out + place, tl.cumsum(values, axis=1))
    tl.store(out + M * N + place, tl.cumsum(values, 0, reverse=True))
    tl.store(out + 2 * M * N + place, tl.cumprod(values, axis=0))
    tl.store(out + 3 * M * N + place, values.cumsum(-1) + tl.cumprod(values, 1, reverse=True))


@triton.jit
def segment(sum_a, start_a, sum_b, start_b):
    """Combine two adjacent parts: if the second starts a segment, the sum of the first is dropped."""
    return tl.where(start_b, sum_b, sum_a + sum_b), start_a | start_b


@triton.jit
def segmented_sum(out, x, starts, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    begins = tl.load(starts + at, mask=at < n, other=0) != 0
    sums, _ = tl.associative_scan((values, begins), axis=0, combine_fn=segment)
    tl.store(out + at, sums, mask=at < n)


@triton.jit
def linear(a_left, b_left, a_right, b_right):
    return a_left * a_right, b_left * a_right + b_right


@triton.jit
def recurrence_chunked(out, a, b, length, BLOCK: tl.constexpr, CHANNELS: tl.constexpr):
    """h[t] = a[t] h[t - 1] + b[t], block by block. The loop carries the last h of a block to the next block."""
    t = tl.arange(0, BLOCK)[:, None]
    c = tl.arange(0, CHANNELS)[None, :]
    state = tl.zeros((1, CHANNELS), tl.float32)
    for start in range(0, length, BLOCK):
        place = (start + t) * CHANNELS + c
        inside = start + t < length
        decay = tl.load(a + place, mask=inside, other=1.0)
        grown, reached = tl.associative_scan((decay, tl.load(b + place, mask=inside, other=0.0)), 0, linear)
        result = reached + grown * state
        tl.store(out + place, result, mask=inside)
        state = tl.sum(tl.where(t == BLOCK - 1, result, 0.0), axis=0, keep_dims=True)


@triton.jit
def compact(out, count, x, n, BLOCK: tl.constexpr):
    """Store the positive numbers in consecutive elements."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    keep = values > 0
    place = tl.cumsum(keep.to(tl.int32), 0) - 1
    tl.store(out + place, values, mask=keep)
    tl.store(count, tl.sum(keep.to(tl.int32)))
