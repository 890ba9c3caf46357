def implicit_gemm_kernel(
    out, x, w, images, channels, height, width, filters, p_size, q_size, stride, padding, dilation, groups,
    R: tl.constexpr, S: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
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
