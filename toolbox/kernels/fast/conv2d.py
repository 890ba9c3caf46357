"""Convolution as a matrix product whose left matrix is never built, with channels last: tiles load contiguous memory.

K runs over taps, and over the channels of each tap. The number of channels is a compile-time value, so that no k has to
be divided by a run-time value. See `kernels.conv2d` for the idea.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, describe, empty_like
from kernels.tuned import configs, worth_trying

DTYPES = ("float16", "bfloat16", "float32")
MOST_TAPS = 63
"""The largest number of taps of a filter, because a 64-bit number has a bit for each tap."""


@triton.jit
def conv2d_kernel(
    out, x, w, images, height, width, filters, p_size, q_size, stride, padding, dilation,
    CHANNELS: tl.constexpr, R: tl.constexpr, S: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Each program computes BLOCK_M output pixels by BLOCK_N filters."""
    tiles = tl.cdiv(filters, BLOCK_N)  # neighboring programs share pixels
    pixel = tl.program_id(0) // tiles * BLOCK_M + tl.arange(0, BLOCK_M)
    filter = tl.program_id(0) % tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    image = pixel // (p_size * q_size)
    top = pixel // q_size % p_size * stride - padding
    left = pixel % q_size * stride - padding
    corner = ((image * height + top) * width + left) * CHANNELS
    there, known = pixel < images * p_size * q_size, filter < filters
    # A bit for each tap that is inside the image, so that the loop need not compare coordinates.
    bits = tl.zeros((BLOCK_M,), tl.int32 if R * S < 32 else tl.int64)
    for i in tl.static_range(R * S):
        h, v = top + i // S * dilation, left + i % S * dilation
        bits |= (there & (h >= 0) & (h < height) & (v >= 0) & (v < width)).to(bits.dtype) << i
    BLOCKS: tl.constexpr = (CHANNELS + BLOCK_K - 1) // BLOCK_K
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for block in range(0, R * S * BLOCKS):
        tap = block // BLOCKS
        c = block % BLOCKS * BLOCK_K
        step = (tap // S * width + tap % S) * dilation * CHANNELS + c
        place = (corner + step)[:, None] + inner[None, :]
        place_w = (filter * (R * S * CHANNELS) + (tap * CHANNELS + c))[None, :] + inner[:, None]
        inside = ((bits >> tap) & 1) != 0
        if CHANNELS % BLOCK_K == 0:
            pixels = tl.load(x + place, mask=inside[:, None], other=0.0)
            taps = tl.load(w + place_w, mask=known[None, :], other=0.0)
        else:
            within = c + inner < CHANNELS
            pixels = tl.load(x + place, mask=inside[:, None] & within[None, :], other=0.0)
            taps = tl.load(w + place_w, mask=known[None, :] & within[:, None], other=0.0)
        total = tl.dot(pixels, taps, total, input_precision="ieee")
    place = pixel[:, None] * filters + filter[None, :]
    tl.store(out + place, total.to(out.dtype.element_ty), mask=there[:, None] & known[None, :])


TILES = [
    *configs(BLOCK_M=(64, 128), BLOCK_N=(128,), BLOCK_K=(64,), num_warps=(4,), num_stages=(2, 3, 4)),
    *configs(BLOCK_M=(128,), BLOCK_N=(128, 256), BLOCK_K=(64,), num_warps=(8,), num_stages=(3, 4)),
    *configs(BLOCK_M=(64,), BLOCK_N=(64, 256), BLOCK_K=(64,), num_warps=(4,), num_stages=(2, 3)),
    *configs(BLOCK_M=(128,), BLOCK_N=(64,), BLOCK_K=(64,), num_warps=(4,), num_stages=(3, 4)),
    *configs(BLOCK_M=(64,), BLOCK_N=(64,), BLOCK_K=(32,)),
]

tuned = triton.autotune(
    TILES,
    ["images", "CHANNELS", "height", "width", "filters", "stride", "R", "S"],
    prune_configs_by={"early_config_prune": worth_trying},
)(conv2d_kernel)


def conv2d(x: Any, w: Any, stride: int = 1, padding: int = 0, dilation: int = 1) -> Any:
    """Convolution of (N, H, W, C) images with (K, R, S, C) filters, all contiguous: (N, P, Q, K) results.

    PyTorch's tensors of `memory_format=torch.channels_last` have this layout after `permute(0, 2, 3, 1)`.
    """
    check("x", x, rank=4, dtypes=DTYPES, contiguous=True)
    check("w", w, rank=4, dtypes=DTYPES, contiguous=True)
    check_alike("w", w, "x", x)
    images, height, width, channels = x.shape
    filters, r_size, s_size, depth = w.shape
    p_size = (height + 2 * padding - dilation * (r_size - 1) - 1) // stride + 1
    q_size = (width + 2 * padding - dilation * (s_size - 1) - 1) // stride + 1
    if depth != channels or min(p_size, q_size) < 1:
        raise ValueError(f"filters w, {describe(w)}, do not fit x, {describe(x)}, padded by {padding}")
    if r_size * s_size > MOST_TAPS:
        raise ValueError(f"a filter of w, {describe(w)}, has more than {MOST_TAPS} taps")
    out = empty_like(x, (images, p_size, q_size, filters))
    sizes = (images, height, width, filters, p_size, q_size, stride, padding, dilation)
    pixels = images * p_size * q_size
    grid = lambda meta: (triton.cdiv(pixels, meta["BLOCK_M"]) * triton.cdiv(filters, meta["BLOCK_N"]),)  # noqa: E731
    tuned[grid](out, x, w, *sizes, CHANNELS=channels, R=r_size, S=s_size)
    return out
