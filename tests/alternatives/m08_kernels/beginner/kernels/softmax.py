def softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    columns_here = tl.arange(0, BLOCK)
    mask = columns_here < columns
    x_pointers = x + row * x_stride + columns_here
    loaded = tl.load(x_pointers, mask=mask, other=0.0)
    values = loaded.to(tl.float32)
    values = tl.where(mask, values, -float("inf"))
    largest = tl.max(values, axis=0)
    shifted = values - largest
    powers = tl.exp(shifted)
    powers = tl.where(mask, powers, 0.0)
    total = tl.sum(powers, axis=0)
    result = powers / total
    out_pointers = out + row * out_stride + columns_here
    tl.store(out_pointers, result.to(out.dtype.element_ty), mask=mask)


def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    x_row = x + row * x_stride
    out_row = out + row * out_stride
    blocks = tl.cdiv(columns, BLOCK)

    # The maximum of each block, and of these the maximum.
    largest = -float("inf")
    for block in range(0, blocks):
        columns_here = block * BLOCK + tl.arange(0, BLOCK)
        mask = columns_here < columns
        values = tl.load(x_row + columns_here, mask=mask, other=-float("inf")).to(tl.float32)
        largest_here = tl.max(values, axis=0)
        largest = tl.maximum(largest, largest_here)

    # Now that it is known, the sum needs no more care.
    total = 0.0
    for block in range(0, blocks):
        columns_here = block * BLOCK + tl.arange(0, BLOCK)
        mask = columns_here < columns
        values = tl.load(x_row + columns_here, mask=mask, other=0.0).to(tl.float32)
        powers = tl.exp(values - largest)
        powers = tl.where(mask, powers, 0.0)
        total = total + tl.sum(powers, axis=0)

    for block in range(0, blocks):
        columns_here = block * BLOCK + tl.arange(0, BLOCK)
        mask = columns_here < columns
        values = tl.load(x_row + columns_here, mask=mask, other=0.0).to(tl.float32)
        powers = tl.exp(values - largest)
        result = powers / total
        tl.store(out_row + columns_here, result.to(out.dtype.element_ty), mask=mask)
