def dropout_kernel(out, x, n, p, seed, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    block = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    random = tl.uint_to_uniform_float(tl.randint(seed, offsets))
    tl.store(out + offsets, tl.where(random >= p, block * (1 / (1 - p)), 0.0).to(out.dtype.element_ty), mask=mask)
