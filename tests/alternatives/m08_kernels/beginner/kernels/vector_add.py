def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    program = tl.program_id(axis=0)
    first = program * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    mask = offsets < n
    x_pointers = x + offsets
    y_pointers = y + offsets
    out_pointers = out + offsets
    x_values = tl.load(x_pointers, mask=mask, other=0)
    y_values = tl.load(y_pointers, mask=mask, other=0)
    sums = x_values + y_values
    tl.store(out_pointers, sums, mask=mask)
