def direct_kernel(
    out, x, w, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
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


def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
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
