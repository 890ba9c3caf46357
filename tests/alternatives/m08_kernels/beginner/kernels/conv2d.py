def direct_kernel(
    out, x, w, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
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


def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
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
