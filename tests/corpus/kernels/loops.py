"""Loops of every shape."""

import triton
import triton.language as tl


@triton.jit
def loop_bounds(out, start, stop, step, wide, BLOCK: tl.constexpr):
    """Bounds from constants, arguments and memory, and bounds of 64 bits."""
    total = 0
    for i in range(10):
        total += i
    for i in range(start, stop, step):
        total += i * i
    for i in range(10, 0, -3):
        total = total * 2 - i
    for i in range(stop, start, -1):
        total ^= i
    far = tl.load(wide)
    sum64 = far * 0
    for i in range(0, far, 2):
        sum64 += i
    for _ in range(5, 5):
        total += 1000
    for i in tl.static_range(1, 8, 3):
        total += i << i
    tl.store(out, total)
    tl.store(wide + 1, sum64)


@triton.jit
def carried_kinds(out, x, n, BLOCK: tl.constexpr):
    """Carried scalars of several dtypes, blocks, pointers and tuples. Some names swap in each iteration."""
    at = tl.arange(0, BLOCK)
    source = x + at
    left = tl.zeros([BLOCK], tl.float32)
    right = tl.full([BLOCK], 1.0, tl.float32)
    pair = (left, 0)
    small = tl.full((), 1, tl.int8)
    for i in range(n):
        left, right = right, left + tl.load(source)
        pair = (pair[0] + left, pair[1] + i)
        small = (small * 3).to(tl.int8)
        unused = left * 2  # noqa: F841
        source += BLOCK
    tl.store(out + at, left - right + pair[0] + pair[1] + small)


@triton.jit
def unchanged_carry(out, x, n, BLOCK: tl.constexpr):
    """A name that is bound to its old value again; a name that is bound before its use in each iteration."""
    at = tl.arange(0, BLOCK)
    base = x
    scratch = 0.0
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(n):
        base = x
        scratch = tl.load(base + i)
        total += scratch * tl.load(base + at)
    tl.store(out + at, total)


@triton.jit
def while_newton(out, x, n, BLOCK: tl.constexpr):
    """Square roots by Newton's method, until all errors are small."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=1.0)
    guess = values * 0.5 + 0.5
    error = tl.max(tl.abs(guess * guess - values))
    rounds = 0
    while (error > 1e-4) & (rounds < 20):
        guess = 0.5 * (guess + values / guess)
        error = tl.max(tl.abs(guess * guess - values))
        rounds += 1
    tl.store(out + at, guess, mask=at < n)


@triton.jit
def while_nested(out, x, LIMIT: tl.constexpr):
    """Prime factors: nested loops, conditions with `and`, a branch in a loop."""
    n = tl.load(x + tl.program_id(0))
    factor = 2
    count = 0
    largest = 1
    while factor * factor <= n and count < LIMIT:
        while n % factor == 0 and n > 0:
            n = n // factor
            count += 1
            largest = factor
        if factor == 2:
            factor = 3
        else:
            factor += 2
    if n > 1:
        largest = n
        count += 1
    tl.store(out + tl.program_id(0) * 2, count)
    tl.store(out + tl.program_id(0) * 2 + 1, largest)


@triton.jit
def binary_search(out, sorted_values, wanted, size, n, BLOCK: tl.constexpr):
    """Many searches at once, with as many iterations as the longest search."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(wanted + at, mask=inside, other=0)
    low = tl.zeros([BLOCK], tl.int32)
    high = low + size
    while tl.max(high - low, 0) > 0:
        middle = (low + high) // 2
        seen = tl.load(sorted_values + middle, mask=inside & (low < high), other=0)
        right = (seen < value) & (low < high)
        low = tl.where(right, middle + 1, low)
        high = tl.where(right | (low >= high), high, middle)
        high = tl.maximum(low, high)
    tl.store(out + at, low, mask=inside)


@triton.jit
def range_options(out, x, n, BLOCK: tl.constexpr):
    """The options of `tl.range`."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for i in tl.range(0, n, num_stages=3):
        total += tl.load(x + i * BLOCK + at)
    for i in tl.range(n, loop_unroll_factor=4):
        total *= 1.0 + i
    for _ in tl.range(1, n, 2, flatten=True, disallow_acc_multi_buffer=True):
        total -= 1.0
    tl.store(out + at, total)
