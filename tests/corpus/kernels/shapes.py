"""Blocks that are transposed, split, joined and created."""

import triton
import triton.language as tl


@triton.jit
def transpose(out, x, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n[:, None] * M + m[None, :], tile.T + tl.permute(tile, (1, 0)) * tl.trans(tile, 1, 0))


@triton.jit
def three_axes(out, x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, A * B * C)
    cube = tl.load(x + at).reshape(A, B, C)
    turned = tl.permute(cube, 2, 0, 1)
    along = tl.sum(turned, axis=1)[:, None, :]
    spread = tl.broadcast_to(along, (C, A, B)) - turned
    tl.store(out + at, tl.ravel(spread))
    flat = tl.view(turned.trans(1, 2, 0), [A, B * C])
    tl.store(out + A * B * C + tl.arange(0, A)[:, None] * (B * C) + tl.arange(0, B * C), flat)


@triton.jit
def rotary(out, x, cosines, sines, HALF: tl.constexpr):
    """Rotate pairs of adjacent elements by an angle, with split and join."""
    row = tl.program_id(0)
    at = tl.arange(0, 2 * HALF)
    pairs = tl.load(x + row * 2 * HALF + at).reshape(HALF, 2)
    left, right = tl.split(pairs)
    angle = tl.arange(0, HALF)
    c = tl.load(cosines + row * HALF + angle)
    s = tl.load(sines + row * HALF + angle)
    turned = tl.join(left * c - right * s, left * s + right * c)
    tl.store(out + row * 2 * HALF + at, tl.reshape(turned, [2 * HALF]))
    tl.store(out + row * 2 * HALF + at, tl.interleave(left * c - right * s, left * s + right * c))


@triton.jit
def creation(out, n, BLOCK: tl.constexpr):
    """Blocks of several dtypes, created without operands; indexing with None."""
    at = tl.arange(0, BLOCK)
    from_eight = tl.arange(8, 8 + BLOCK)
    zeros = tl.zeros([BLOCK], dtype=tl.int16)
    threes = tl.full([BLOCK], 3, tl.uint8)
    tiny = tl.full((BLOCK,), 0.5, dtype=tl.bfloat16)
    runtime = tl.full([BLOCK], n, tl.int64)
    same = tl.zeros_like(tiny) + tl.cast(threes, tl.bfloat16)
    column = at[:, None]
    both = column + from_eight[None, :] * 2 + zeros[None] + runtime[None, :]
    mixed = both + threes[:, None] - (tiny + same)[None, :].to(tl.int32)
    tl.store(out + column * BLOCK + at, mixed)


@triton.jit
def pick(out, x, n, BLOCK: tl.constexpr):
    """flip, gather, cat, histogram."""
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.store(out + at, tl.flip(values, 0))
    tl.store(out + BLOCK + at, tl.gather(values, (at * 7 + 3) % BLOCK, 0))
    tl.store(out + 2 * BLOCK + tl.arange(0, 16), tl.histogram(values, 16))
    table = values.reshape(BLOCK // 16, 16)
    columns = tl.broadcast_to((15 - tl.arange(0, 16))[None, :], (BLOCK // 16, 16))
    tl.store(out + 3 * BLOCK + at, tl.gather(table, columns, axis=1).reshape(BLOCK))


@triton.jit
def concatenated(out, x, y, BLOCK: tl.constexpr):
    """Concatenation, whose order of elements is free."""
    at = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(x + at), tl.load(y + at), can_reorder=True)
    tl.store(out, tl.sum(both, axis=0))


@triton.jit
def stencil(out, x, H, W, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    """A stencil of five points. Points outside the picture are clamped to its edge."""
    h = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)[:, None]
    w = tl.program_id(0) * BLOCK_W + tl.arange(0, BLOCK_W)[None, :]
    inside = (h < H) & (w < W)
    total = tl.zeros((BLOCK_H, BLOCK_W), tl.float32)
    for i in tl.static_range(-1, 2):
        for j in tl.static_range(-1, 2):
            if i == 0 or j == 0:
                row = tl.minimum(tl.maximum(h + i, 0), H - 1)
                column = tl.clamp((w + j).to(tl.float32), 0.0, W - 1.0).to(tl.int32)
                total += tl.load(x + row * W + column, mask=inside, other=0.0)
    tl.store(out + h * W + w, total / 5, mask=inside)
