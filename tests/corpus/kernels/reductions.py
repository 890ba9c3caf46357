"""Reductions along each axis, of one value and of several."""

import triton
import triton.language as tl


@triton.jit
def tile(x, M: tl.constexpr, N: tl.constexpr):
    return tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def reduce_axes(sums, highest, lowest, x, M: tl.constexpr, N: tl.constexpr):
    values = tile(x, M, N)
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    tl.store(sums + m, tl.sum(values, axis=1))
    tl.store(sums + M + n, tl.sum(values, axis=0))
    tl.store(sums + M + N, tl.sum(values))
    tl.store(highest + m, tl.max(values, 1))
    tl.store(highest + M + n, tl.max(values, axis=-2))
    tl.store(highest + M + N, values.max())
    centred = values - tl.min(values, axis=1, keep_dims=True)
    tl.store(lowest + m[:, None] * N + n[None, :], centred / tl.sum(centred, axis=0, keep_dims=True))


@triton.jit
def arg_reductions(indices, values_out, x, M: tl.constexpr, N: tl.constexpr):
    values = tile(x, M, N)
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    tl.store(indices + m, tl.argmax(values, axis=1))
    tl.store(indices + M + n, tl.argmin(values, axis=0))
    tl.store(indices + M + N + m, tl.argmax(values, 1, tie_break_left=False))
    highest, at = tl.max(values, axis=0, return_indices=True)
    tl.store(values_out + n, highest)
    tl.store(indices + 2 * M + N + n, at)
    lowest, at = tl.min(values, axis=1, return_indices=True, return_indices_tie_break_left=True)
    tl.store(values_out + N + m, lowest)
    tl.store(indices + 2 * M + 2 * N + m, at)


@triton.jit
def integer_reductions(out, narrow, x, M: tl.constexpr, N: tl.constexpr):
    """The parity of bits; sums of narrow integers, which have a wider dtype."""
    values = tile(x, M, N)
    m = tl.arange(0, M)
    tl.store(out + m, tl.xor_sum(values, axis=1))
    small = tile(narrow, M, N)
    tl.store(out + M + m, tl.sum(small, axis=1))
    tl.store(out + 2 * M + m, tl.max(small, axis=1))
    tl.store(out + 3 * M + m, tl.sum(values > 0, axis=1))
    tl.store(out + 4 * M + m, tl.sum(small.to(tl.uint8, bitcast=True), axis=1))
    tl.store(out + 5 * M + m, tl.sum(values, axis=1, dtype=tl.int64).to(tl.int32))


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def closest_to_zero(a, b):
    return tl.where(tl.abs(a) <= tl.abs(b), a, b)


@triton.jit
def longest(length_a, at_a, length_b, at_b):
    better = (length_b > length_a) | ((length_b == length_a) & (at_b < at_a))
    return tl.where(better, length_b, length_a), tl.where(better, at_b, at_a)


@triton.jit
def custom_reductions(out, indices, x, M: tl.constexpr, N: tl.constexpr):
    values = tile(x, M, N)
    m = tl.arange(0, M)
    places = tl.broadcast_to(tl.arange(0, N)[None, :], (M, N))
    tl.store(out + m, tl.reduce(values, 1, product))
    tl.store(out + M + tl.arange(0, N), tl.reduce(values, axis=0, combine_fn=closest_to_zero))
    size, at = tl.reduce((values * values, places), 1, longest)
    tl.store(out + M + N + m, size)
    tl.store(indices + m, at)
    tl.store(out + 2 * M + N, tl.reduce(tl.reduce(values, 0, product), 0, closest_to_zero))


@triton.jit
def half_reductions(out, x, y, N: tl.constexpr):
    """Sums have the dtype of their narrow operands; maxima have a wider dtype."""
    at = tl.arange(0, N)
    half = tl.load(x + at)
    brain = tl.load(y + at)
    tl.store(out, tl.sum(half))
    tl.store(out + 1, tl.max(half) + tl.min(brain))
    tl.store(out + 2, tl.sum(brain.to(tl.float32)))
    tl.store(out + 3, tl.sum(half, dtype=tl.float32))
