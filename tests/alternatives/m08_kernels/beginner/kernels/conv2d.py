"""Two-dimensional convolution, twice: directly, and as a matrix product that is never built ("implicit GEMM").

Direct: a program has one output channel of one image, and a block of its pixels; it adds up over channels and taps.
Implicit GEMM: rows are output pixels, columns are output channels, and K runs over channels and taps. The patch matrix
would repeat every input pixel for each tap; instead, each tile of it is loaded from where its elements are.

Source: Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, describe, empty_like, on_gpu

DTYPES = ("float16", "bfloat16", "float32")


@triton.jit
def direct_kernel(
    out, x, w, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Program (i, j): BLOCK pixels, from j * BLOCK on, of output channel i % filters of image i // filters."""
    which = tl.program_id(axis=0)
    image = which // filters
    filter = which - image * filters
    pixels = tl.program_id(axis=1) * BLOCK + tl.arange(0, BLOCK)
    mask = pixels < p_size * q_size
    p = pixels // q_size
    q = pixels - p * q_size

    # The channels that this filter sees.
    channels_of_group = channels // groups
    filters_of_group = filters // groups
    group = filter // filters_of_group
    x_group = x + (image * channels + group * channels_of_group) * height * width
    w_filter = w + filter * channels_of_group * R * S

    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for c in range(0, channels_of_group):
        for r in range(0, R):
            h = p * stride + r * dilation - padding
            h_inside = (h >= 0) & (h < height)
            for s in range(0, S):
                v = q * stride + s * dilation - padding
                v_inside = (v >= 0) & (v < width)
                x_pointers = x_group + c * height * width + h * width + v
                values = tl.load(x_pointers, mask=mask & h_inside & v_inside, other=0.0)
                weight = tl.load(w_filter + c * R * S + r * S + s)
                total = total + values.to(tl.float32) * weight.to(tl.float32)

    out_pointers = out + which * p_size * q_size + pixels
    tl.store(out_pointers, total.to(out.dtype.element_ty), mask=mask)


@triton.jit
def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Program (i, j, g): BLOCK_M output pixels of all images, from i * BLOCK_M on, and BLOCK_N filters of group g."""
    group = tl.program_id(axis=2)
    channels_of_group = channels // groups
    filters_of_group = filters // groups

    # The rows of the matrix product are pixels.
    pixels = tl.program_id(axis=0) * BLOCK_M + tl.arange(0, BLOCK_M)
    pixels_inside = pixels < images * p_size * q_size
    pixels_of_image = p_size * q_size
    image = pixels // pixels_of_image
    rest = pixels - image * pixels_of_image
    p = rest // q_size
    q = rest - p * q_size
    top = p * stride - padding
    left = q * stride - padding

    # Its columns are filters of this group.
    columns = tl.program_id(axis=1) * BLOCK_N + tl.arange(0, BLOCK_N)
    columns_inside = columns < filters_of_group
    filter = group * filters_of_group + columns

    length = channels_of_group * R * S
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(0, tl.cdiv(length, BLOCK_K)):
        k = block * BLOCK_K + tl.arange(0, BLOCK_K)
        k_inside = k < length
        c = k // (R * S)
        tap = k - c * (R * S)
        r = tap // S
        s = tap - r * S

        h = top[:, None] + r[None, :] * dilation
        v = left[:, None] + s[None, :] * dilation
        h_inside = (h >= 0) & (h < height)
        v_inside = (v >= 0) & (v < width)
        channel = group * channels_of_group + c
        offsets = image[:, None] * channels * height * width + channel[None, :] * height * width + h * width + v
        x_mask = pixels_inside[:, None] & k_inside[None, :] & h_inside & v_inside
        patch = tl.load(x + offsets, mask=x_mask, other=0.0)

        w_offsets = filter[None, :] * length + k[:, None]
        w_mask = columns_inside[None, :] & k_inside[:, None]
        weights = tl.load(w + w_offsets, mask=w_mask, other=0.0)

        total = total + tl.dot(patch, weights, input_precision="ieee")

    out_offsets = image[:, None] * filters * pixels_of_image + filter[None, :] * pixels_of_image + rest[:, None]
    out_mask = pixels_inside[:, None] & columns_inside[None, :]
    tl.store(out + out_offsets, total.to(out.dtype.element_ty), mask=out_mask)


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
    if padding < 0:
        raise ValueError(f"padding must be at least 0, not {padding}")
    for name, number in {"stride": stride, "dilation": dilation, "groups": groups}.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, not {number}")
    if channels % groups or filters % groups:
        raise ValueError(f"{groups} groups must divide the {channels} channels of x and the {filters} filters of w")
    if depth != channels // groups:
        raise ValueError(f"w is {describe(w)}, x is {describe(x)}: each filter must have {channels // groups} channels")
    p_size = (height + 2 * padding - dilation * (r_size - 1) - 1) // stride + 1
    q_size = (width + 2 * padding - dilation * (s_size - 1) - 1) // stride + 1
    if min(p_size, q_size) < 1:
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
