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
    pid = tl.program_id(0)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    left = offsets % q_size * stride - padding
    top = offsets // q_size * stride - padding
    depth = channels // groups
    filter = pid % filters
    x_ptr = x + (pid // filters * channels + filter * groups // filters * depth) * height * width
    accumulator = tl.zeros((BLOCK,), tl.float32)
    # Taps outside: which pixels are inside of the image is the same for all channels.
    for tap in tl.static_range(R * S):
        h = top + tap // S * dilation
        v = left + tap % S * dilation
        mask = (offsets < p_size * q_size) & (0 <= h) & (h < height) & (0 <= v) & (v < width)
        x_ptrs = x_ptr + h * width + v
        w_ptr = w + filter * depth * R * S + tap
        for _ in range(depth):
            weight = tl.load(w_ptr).to(tl.float32)
            accumulator = tl.fma(tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32), weight, accumulator)
            x_ptrs += height * width
            w_ptr += R * S
    out_ptrs = out + pid * p_size * q_size + offsets
    tl.store(out_ptrs, accumulator.to(out.dtype.element_ty), mask=offsets < p_size * q_size)


@triton.jit
def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Program (i, j, g): BLOCK_M output pixels of all images, from i * BLOCK_M on, and BLOCK_N filters of group g."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    group = tl.program_id(2)
    depth = channels // groups
    per_group = filters // groups
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    q = offs_m % q_size
    rows = offs_m // q_size
    p = rows % p_size
    image = rows // p_size
    m_mask = offs_m < images * p_size * q_size
    n_mask = offs_n < per_group
    filter = group * per_group + offs_n
    x_base = x + (image * channels + group * depth)[:, None] * height * width
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    # K in another order: taps outside, channels inside, so that a tile of the patch matrix belongs to one tap.
    for r in range(R):
        for s in range(S):
            h = p * stride + r * dilation - padding
            v = q * stride + s * dilation - padding
            seen = m_mask & (h >= 0) & (h < height) & (v >= 0) & (v < width)
            for start in range(0, depth, BLOCK_K):
                c = start + offs_k
                x_ptrs = x_base + c[None, :] * height * width + (h * width + v)[:, None]
                w_ptrs = w + ((filter[None, :] * depth + c[:, None]) * R + r) * S + s
                a = tl.load(x_ptrs, mask=seen[:, None] & (c < depth)[None, :], other=0.0)
                b = tl.load(w_ptrs, mask=(c < depth)[:, None] & n_mask[None, :], other=0.0)
                accumulator = tl.dot(a, b, acc=accumulator, input_precision="ieee")
    out_ptrs = out + (image * filters * p_size * q_size + p * q_size + q)[:, None] + filter[None, :] * p_size * q_size
    tl.store(out_ptrs, accumulator.to(out.type.element_ty), mask=m_mask[:, None] & n_mask[None, :])


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
