"""Two-dimensional convolution, twice: directly, and as a matrix product whose left matrix is never stored.

In the direct kernel, a program computes a tile of pixels of one output channel of one image, and sums over channels
and taps. In the matrix product ("implicit GEMM"), rows are output pixels, columns are output channels, and K runs over
channels and taps. The left matrix would repeat every input pixel for each tap; instead, each of its tiles is loaded
directly from the image.

Source: Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_whole, describe, empty_like, on_gpu, unless_tuned

DTYPES = ("float16", "bfloat16", "float32")


@triton.jit
def direct_kernel(
    out, x, w, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Program (i, j) computes BLOCK pixels of channel i % filters of output image i // filters.

    The first pixel has number j * BLOCK.
    """
    # [task 8.14] With padding 1, stride 2 and dilation 3, output pixel (4, 5) is the sum of the products of input pixel
    # (7 + 3 * r, 9 + 3 * s) and tap (r, s) of the filter, over all r < R, all s < S, and all channels of the filter's
    # group. Pixels outside the image count as 0. All arrays are contiguous. Their shapes are (images, channels, height,
    # width) for x, (filters, channels // groups, R, S) for w, and (images, filters, p_size, q_size) for out.
    image = tl.program_id(0) // filters
    filter = tl.program_id(0) % filters
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    p = at // q_size
    q = at % q_size
    depth = channels // groups
    first = filter // (filters // groups) * depth
    total = tl.zeros((BLOCK,), tl.float32)
    for c in range(depth):
        for r in tl.static_range(R):
            for s in tl.static_range(S):
                h = p * stride - padding + r * dilation
                v = q * stride - padding + s * dilation
                inside = (at < p_size * q_size) & (h >= 0) & (h < height) & (v >= 0) & (v < width)
                place = ((image * channels + first + c) * height + h) * width + v
                values = tl.load(x + place, mask=inside, other=0.0).to(tl.float32)
                total += values * tl.load(w + ((filter * depth + c) * R + r) * S + s).to(tl.float32)
    place = out + (image * filters + filter) * p_size * q_size + at
    tl.store(place, total, mask=at < p_size * q_size)
    # [end]


@triton.jit
def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Program (i, j, g) computes BLOCK_M pixels for BLOCK_N filters of group g.

    The first pixel has number i * BLOCK_M; the first filter has number j * BLOCK_N within its group. Pixels are
    numbered consecutively across all images.
    """
    # [task 8.15] Compute a matrix product. Row `pixel` of the left matrix stands for an output pixel: an image and a
    # position (p, q). Column k stands for a channel of the group and a tap (r, s), in the order in which w stores them.
    # The left matrix is never stored: load each of its tiles from x. The arrays have the same layouts as in 8.14, and
    # pixels outside the image count as 0 here, too.
    depth = channels // groups
    each = filters // groups
    pixel = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    filter = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    group = tl.program_id(2)
    image = pixel // (p_size * q_size)
    p = pixel // q_size % p_size
    q = pixel % q_size
    size = depth * R * S
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, size, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c = group * depth + k // (R * S)
        h = (p * stride - padding)[:, None] + (k // S % R * dilation)[None, :]
        v = (q * stride - padding)[:, None] + (k % S * dilation)[None, :]
        inside = (pixel < images * p_size * q_size)[:, None] & (k < size)[None, :]
        inside = inside & (h >= 0) & (h < height) & (v >= 0) & (v < width)
        patch = tl.load(x + ((image[:, None] * channels + c[None, :]) * height + h) * width + v, mask=inside, other=0.0)
        taps_inside = (k < size)[:, None] & (filter < each)[None, :]
        taps = tl.load(w + (group * each + filter)[None, :] * size + k[:, None], mask=taps_inside, other=0.0)
        total = tl.dot(patch, taps, total, input_precision="ieee")
    channel = group * each + filter
    place = ((image[:, None] * filters + channel[None, :]) * p_size + p[:, None]) * q_size + q[:, None]
    inside = (pixel < images * p_size * q_size)[:, None] & (filter < each)[None, :]
    tl.store(out + place, total, mask=inside)
    # [end]


def conv2d(
    x: Any, w: Any, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1,
    direct: bool = False, tiles: dict[str, int] | None = None, kernel: Any = implicit_gemm_kernel,
) -> Any:  # fmt: skip
    """The (N, K, P, Q) convolution of (N, C, H, W) images with (K, C / groups, R, S) filters, all contiguous.

    `tiles` sets BLOCK (if `direct`) or BLOCK_M, BLOCK_N and BLOCK_K, and launch options. A `kernel` from
    `kernels.tuned`, which computes a matrix product, chooses all of these itself.
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
        raise ValueError(
            f"w is {describe(w)} and x is {describe(x)}: each filter must have {channels // groups} channels"
        )
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
        rows, columns = (64, 128) if on_gpu(x) else (128, min(max(triton.next_power_of_2(filters // groups), 16), 32))
        chosen = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": 32} | (tiles or {})
        grid3 = lambda meta: (  # noqa: E731
            triton.cdiv(images * p_size * q_size, meta["BLOCK_M"]),
            triton.cdiv(filters // groups, meta["BLOCK_N"]),
            groups,
        )
        kernel[grid3](out, x, w, images, *sizes, R=r_size, S=s_size, **unless_tuned(kernel, **chosen))
    return out


if __name__ == "__main__":
    from kernels import demo

    demo.run("conv2d")
