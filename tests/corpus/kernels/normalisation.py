"""Normalisation of rows and of groups, and dropout."""

import triton
import triton.language as tl


@triton.jit
def layer_norm_forward(out, x, weight, bias, mean_out, rstd_out, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        centred = tl.where(at < columns, values - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        scale = tl.load(weight + at, mask=at < columns)
        shift = tl.load(bias + at, mask=at < columns)
        values = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        tl.store(out + at, (values - mean) * rstd * scale + shift, mask=at < columns)


@triton.jit
def layer_norm_gradient(dy, x, weight, mean, rstd, row, stride, columns, at, inside):
    """The gradient of one row of x, and the row's terms of the gradients of weight and bias."""
    values = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    upstream = tl.load(dy + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(weight + at, mask=inside).to(tl.float32)
    spread = tl.load(rstd + row)
    normal = tl.where(inside, (values - tl.load(mean + row)) * spread, 0.0)
    scaled = tl.where(inside, scale * upstream, 0.0)
    along = tl.sum(normal * scaled, axis=0) / columns
    level = tl.sum(scaled, axis=0) / columns
    return (scaled - (normal * along + level)) * spread, upstream * normal, upstream


@triton.jit
def layer_norm_backward_lock(
    dx, dy, dw, db, x, weight, mean, rstd, locks, stride, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    d_x, d_w, d_b = layer_norm_gradient(dy, x, weight, mean, rstd, row, stride, columns, at, inside)
    tl.store(dx + row * stride + at, d_x, mask=inside)

    slot = row % GROUP
    lock = locks + slot
    used = lock + GROUP
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(used)
    if count == 0:
        tl.atomic_xchg(used, 1)
    else:
        d_w += tl.load(dw + slot * columns + at, mask=inside)
        d_b += tl.load(db + slot * columns + at, mask=inside)
    tl.store(dw + slot * columns + at, d_w, mask=inside)
    tl.store(db + slot * columns + at, d_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def rms_norm(out, x, weight, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + eps)
    weights = tl.load(weight + at, mask=at < columns).to(tl.float32)
    tl.store(out + row * stride + at, (values * scale * weights).to(out.dtype.element_ty), mask=at < columns)


@triton.jit
def welford(mean_a, squares_a, count_a, mean_b, squares_b, count_b):
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / count)
    delta = mean_b - mean_a
    return mean_a + delta * share, squares_a + squares_b + delta * delta * count_a * share, count


@triton.jit
def group_norm(out, x, size, eps, BLOCK: tl.constexpr):
    """Mean and variance in one pass, by a reduction of triples."""
    x += tl.program_id(0) * size
    out += tl.program_id(0) * size
    at = tl.arange(0, BLOCK)
    inside = at < size
    values = tl.load(x + at, mask=inside, other=0.0)
    count = inside.to(tl.float32)
    mean, squares, total = tl.reduce((values, tl.zeros_like(values), count), 0, welford)
    tl.store(out + at, (values - mean) * tl.rsqrt(squares / total + eps), mask=inside)


@triton.jit
def dropout_low_memory(out, x, keep, n, p, BLOCK: tl.constexpr):
    at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    kept = tl.load(keep + at, mask=inside)
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=inside) / (1 - p), 0.0), mask=inside)


@triton.jit
def dropout_matrix(out, x, seeds, columns, p: tl.constexpr, BLOCK: tl.constexpr):
    """Dropout with one seed for each row."""
    row = tl.program_id(0)
    seed = tl.load(seeds + row)
    for start in tl.range(0, columns, BLOCK, loop_unroll_factor=2):
        at = start + tl.arange(0, BLOCK)
        keep = tl.rand(seed, at) > p
        values = tl.load(x + row * columns + at, mask=at < columns)
        tl.store(out + row * columns + at, tl.where(keep, values / (1 - p), 0.0), mask=at < columns)


@triton.jit
def random_numbers(uniform, normal, integers, words, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(uniform + at, tl.rand(seed, at))
    tl.store(normal + at, tl.randn(seed, at, n_rounds=7))
    tl.store(integers + at, tl.randint(seed, at))
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(words + at, a ^ b ^ (c + d))


@triton.jit
def adam(p, g, m, v, n, rate, BETA1: tl.constexpr, BETA2: tl.constexpr, step, BLOCK: tl.constexpr):
    """A step of an optimiser, in place."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    gradient = tl.load(g + at, mask=inside).to(tl.float32)
    first = BETA1 * tl.load(m + at, mask=inside) + (1 - BETA1) * gradient
    second = BETA2 * tl.load(v + at, mask=inside) + (1 - BETA2) * gradient * gradient
    corrected = second / (1.0 - tl.exp(step * tl.log(tl.full((), BETA2, tl.float32))))
    tl.store(m + at, first, mask=inside)
    tl.store(v + at, second, mask=inside)
    tl.store(p + at, tl.load(p + at, mask=inside) - rate * first / (tl.sqrt(corrected) + 1e-8), mask=inside)
