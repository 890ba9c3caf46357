"""Two-dimensional convolution, twice: directly, and as a matrix product that is never built ("implicit GEMM").

Direct: a program has one output channel of one image, and a block of its pixels; it adds up over channels and taps.
Implicit GEMM: rows are output pixels, columns are output channels, and K runs over channels and taps. The patch matrix
would repeat every input pixel for each tap; instead, each tile of it is loaded from where its elements are.

Source: Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_whole, describe, empty_like, on_gpu

DTYPES = ("float16", "bfloat16", "float32")


@triton.jit
def direct_kernel(
    out, x, w, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Program (i, j): BLOCK pixels, from j * BLOCK on, of output channel i % filters of image i // filters."""
    # One row of a tile a pixel, one column a tap of a channel: sums of rows instead of loops over taps.
    BLOCK_K: tl.constexpr = triton.next_power_of_2(R * S)
    plane = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tap = tl.arange(0, BLOCK_K)
    depth = channels // groups
    h = ((at // q_size) * stride)[:, None] + (tap // S * dilation)[None, :] - padding
    v = ((at % q_size) * stride)[:, None] + (tap % S * dilation)[None, :] - padding
    mask = (at < p_size * q_size)[:, None] & (tap < R * S)[None, :]
    mask &= (h >= 0) & (h < height) & (v >= 0) & (v < width)
    filter = plane % filters
    channel = filter // (filters // groups) * depth
    total = tl.zeros((BLOCK,), tl.float32)
    for c in range(depth):
        start = ((plane // filters) * channels + channel + c) * height * width
        patch = tl.load(x + start + h * width + v, mask=mask, other=0.0).to(tl.float32)
        taps = tl.load(w + (filter * depth + c) * (R * S) + tap, mask=tap < R * S, other=0.0).to(tl.float32)
        total += tl.sum(patch * taps[None, :], axis=1)
    tl.store(out + plane * p_size * q_size + at, total.to(out.dtype.element_ty), mask=at < p_size * q_size)


@triton.jit
def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Program (i, j, g): BLOCK_M output pixels of all images, from i * BLOCK_M on, and BLOCK_N filters of group g."""
    # The product is transposed: rows are filters, columns are pixels, as they lie in the result.
    depth = channels // groups
    each = filters // groups
    columns = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rows = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    group = tl.program_id(2)
    area = p_size * q_size
    image = columns // area
    pixel = columns % area
    top = pixel // q_size * stride - padding
    left = pixel % q_size * stride - padding
    corner = (image * channels + group * depth) * height * width + top * width + left
    total = tl.zeros((BLOCK_N, BLOCK_M), tl.float32)
    k = tl.arange(0, BLOCK_K)
    while tl.min(k, axis=0) < depth * R * S:
        tap = k % (R * S)
        down = tap // S * dilation
        right = tap % S * dilation
        step = k // (R * S) * height * width + down * width + right
        h = top[None, :] + down[:, None]
        v = left[None, :] + right[:, None]
        inside = (k < depth * R * S)[:, None] & (image < images)[None, :]
        inside &= (h >= 0) & (h < height) & (v >= 0) & (v < width)
        patch = tl.load(x + step[:, None] + corner[None, :], mask=inside, other=0.0)
        taps_inside = (rows < each)[:, None] & (k < depth * R * S)[None, :]
        taps = tl.load(w + (group * each + rows)[:, None] * (depth * R * S) + k[None, :], mask=taps_inside, other=0.0)
        total = tl.dot(taps, patch, total, input_precision="ieee")
        k += BLOCK_K
    place = (image * filters * area + pixel)[None, :] + (group * each + rows)[:, None] * area
    mask = (rows < each)[:, None] & (image < images)[None, :]
    tl.store(out + place, total.to(out.dtype.element_ty), mask=mask)


def conv2d(
    x: Any, w: Any, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1,
    direct: bool = False, tiles: dict[str, int] | None = None,
) -> Any:  # fmt: skip
    """Convolution of (N, C, H, W) images with (K, C / groups, R, S) filters, all contiguous: (N, K, P, Q) results.

    `tiles` changes BLOCK (direct), or BLOCK_M, BLOCK_N, BLOCK_K, or an option of the launch.
    """
    check("x", x, rank=4, dtypes=DTYPES, contiguous=True)
    check("w", w, rank=4, dtypes=DTYPES, contiguous=True)
    check_alike("w", w, "x", x)
    images, channels, height, width = x.shape
    filters, depth, r_size, s_size = w.shape
    check_whole("padding", padding, 0)
    for name, number in {"stride": stride, "dilation": dilation, "groups": groups}.items():
        check_whole(name, number, 1)
    if channels % groups or filters % groups:
        raise ValueError(f"{groups} groups must divide the {channels} channels of x and the {filters} filters of w")
    if depth != channels // groups:
        raise ValueError(f"w is {describe(w)}, x is {describe(x)}: each filter must have {channels // groups} channels")
    p_size = (height + 2 * padding - dilation * (r_size - 1) - 1) // stride + 1
    q_size = (width + 2 * padding - dilation * (s_size - 1) - 1) // stride + 1
    if min(p_size, q_size, r_size, s_size) < 1:
        raise ValueError(f"filters of {r_size} by {s_size} do not fit x, {describe(x)}, padded by {padding}")
    out = empty_like(x, (images, filters, p_size, q_size))
    sizes = (channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups)
    if direct:
        chosen = {"BLOCK": min(1024, triton.next_power_of_2(p_size * q_size))} | (tiles or {})
        grid = (images * filters, triton.cdiv(p_size * q_size, chosen["BLOCK"]))
        direct_kernel[grid](out, x, w, *sizes, R=r_size, S=s_size, **chosen)
    else:
        chosen = {"BLOCK_M": 64, "BLOCK_N": 128 if on_gpu(x) else 32, "BLOCK_K": 32} | (tiles or {})
        grid3 = (
            triton.cdiv(images * p_size * q_size, chosen["BLOCK_M"]),
            triton.cdiv(filters // groups, chosen["BLOCK_N"]),
            groups,
        )
        implicit_gemm_kernel[grid3](out, x, w, images, *sizes, R=r_size, S=s_size, **chosen)
    return out


def plain(x: Any, w: Any, stride: int = 1, padding: int = 0, dilation: int = 1) -> Any:
    """The same without a kernel, for torch tensors and one group: a sum over taps of products over channels."""
    import torch

    filters, _, r_size, s_size = w.shape
    images, _, height, width = x.shape
    p_size = (height + 2 * padding - dilation * (r_size - 1) - 1) // stride + 1
    q_size = (width + 2 * padding - dilation * (s_size - 1) - 1) // stride + 1
    padded = torch.nn.functional.pad(x, (padding,) * 4)
    out = x.new_zeros((images, filters, p_size, q_size))
    for r in range(r_size):
        for s in range(s_size):
            shifted = padded[:, :, r * dilation :: stride, s * dilation :: stride][:, :, :p_size, :q_size]
            out += torch.einsum("nchw,kc->nkhw", shifted, w[:, :, r, s])
    return out
