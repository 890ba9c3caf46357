"""Functions that kernels call, with all kinds of arguments and results."""

import triton
import triton.language as tl
from triton.language import arange

WIDTH = tl.constexpr(64)
FACTOR: tl.constexpr = tl.constexpr(2.5)
DTYPE = tl.constexpr(tl.float32)


@triton.jit
def scaled(x, factor=FACTOR, shift=0.0, NEGATE: tl.constexpr = False):
    y = x * factor + shift
    if NEGATE:
        y = -y
    return y


@triton.jit
def bounds(x, axis: tl.constexpr):
    return tl.min(x, axis), tl.max(x, axis), x.shape[axis]


@triton.jit
def apply(function: tl.constexpr, x, y):
    return function(x, y)


@triton.jit
def difference(x, y):
    return x - y


@triton.jit
def distance(x, y):
    return tl.abs(apply(difference, x, y))


@triton.jit
def store_all(out, at, values, inside):
    tl.store(out + at, values, mask=inside)


@triton.jit
def arguments(out, x, n):
    """Default, keyword and constexpr arguments; globals; functions without a result."""
    at = arange(0, WIDTH)
    values = tl.load(x + at, mask=at < n, other=0.0)
    result = scaled(values) + scaled(values, 2) + scaled(values, shift=3, factor=n)
    result += scaled(values, NEGATE=True) * scaled(x=values, factor=FACTOR * 2)
    store_all(out, at, values=result.to(DTYPE), inside=at < n)


@triton.jit
def several_results(out, x, n, BLOCK: tl.constexpr):
    """Tuples of constants and values, which are returned, unpacked, indexed and passed on."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    low, high, size = bounds(values, 0)
    spread = bounds(tl.reshape(values, (BLOCK // 4, 4)), axis=1)
    tl.store(out + at, (values - low) / (high - low) + size)
    tl.store(out + BLOCK + tl.arange(0, BLOCK // 4), spread[1] - spread[0])
    first, rest = 1, (2.5, low)
    second, third = rest
    numbers = (first, second) + (third,)
    tl.store(out + 2 * BLOCK, numbers[0] + numbers[1] * numbers[-1] + len(numbers))


@triton.jit
def pairwise(out, x, y, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    """Functions as arguments."""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n)
    b = tl.load(y + at, mask=at < n)
    tl.store(out + at, apply(FUNCTION, a, b) + apply(distance, a, b), mask=at < n)


@triton.jit
def clamped_index(i, n):
    """Clamp an index, with early returns."""
    if i < 0:
        return 0
    if i >= n:
        return n - 1
    return i


@triton.jit
def sign_name(x):
    if x > 0:
        result = 1
    elif x < 0:
        result = -1
    else:
        result = 0
    return result


@triton.jit
def helper_returns(out, x, i, n):
    """Early returns of functions, not of the kernel."""
    value = tl.load(x + clamped_index(i, n))
    tl.store(out, value)
    tl.store(out + 1, sign_name(value))


@triton.jit
def factorial(N: tl.constexpr):
    """Recursion that ends at compile time: each N has a function of its own."""
    if N <= 1:
        return 1
    else:
        return N * factorial(N - 1)


@triton.jit
def polynomial(x, COEFFICIENTS: tl.constexpr):
    total = tl.zeros_like(x)
    for i in tl.static_range(len(COEFFICIENTS)):
        total = total * x + COEFFICIENTS[i]
    return total


@triton.jit
def constants(out, x, COEFFICIENTS: tl.constexpr, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
    """Arithmetic at compile time: tuples, dtypes, recursion."""
    at = tl.arange(0, BLOCK)
    tl.static_assert(BLOCK % 2 == 0, "an even number")
    tl.static_print("block", BLOCK)
    values = polynomial(tl.load(x + at).to(DTYPE), COEFFICIENTS)
    top: tl.constexpr = max(BLOCK, 2**5) // 3 % 16
    values += factorial(4) * (top << 1) - int(2.75) + min(3, 1.5)
    if DTYPE == tl.float16 or DTYPE.primitive_bitwidth < 16:
        values *= 2
    tl.store(out + at, values.to(out.dtype.element_ty))
