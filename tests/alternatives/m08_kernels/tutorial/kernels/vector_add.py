def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x_block = tl.load(x + offsets, mask=mask)
    y_block = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, x_block + y_block, mask=mask)
