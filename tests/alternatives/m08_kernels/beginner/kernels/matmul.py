def matmul_kernel(
    a, b, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr, TOTAL: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)

    # Which group, and which program of that group.
    programs_in_group = GROUP * tiles_n
    group = program // programs_in_group
    program_in_group = program - group * programs_in_group

    # How high the group is, and where in it the tile is.
    first_tile_m = group * GROUP
    tiles_left = tiles_m - first_tile_m
    group_height = tl.minimum(tiles_left, GROUP)
    tile_n = program_in_group // group_height
    tile_m = first_tile_m + program_in_group - tile_n * group_height

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rows_inside = rows[:, None] < M
    columns_inside = columns[None, :] < N

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=TOTAL)
    steps = tl.cdiv(K, BLOCK_K)
    for step in range(0, steps):
        inner = step * BLOCK_K + tl.arange(0, BLOCK_K)
        a_pointers = a + rows[:, None] * stride_am + inner[None, :] * stride_ak
        b_pointers = b + inner[:, None] * stride_bk + columns[None, :] * stride_bn
        a_mask = rows_inside & (inner[None, :] < K)
        b_mask = (inner[:, None] < K) & columns_inside
        a_values = tl.load(a_pointers, mask=a_mask, other=0)
        b_values = tl.load(b_pointers, mask=b_mask, other=0)
        product = tl.dot(a_values, b_values, input_precision="ieee", out_dtype=TOTAL)
        total = total + product

    if ACTIVATION == "relu":
        total = tl.where(total > 0, total, 0.0)
    if ACTIVATION == "leaky_relu":
        negative = total * 0.01
        total = tl.where(total > 0, total, negative)

    result = total.to(c.dtype.element_ty)
    c_pointers = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(c_pointers, result, mask=rows_inside & columns_inside)
