def dropout_kernel(out, x, n, p, seed, BLOCK: tl.constexpr):
    program = tl.program_id(axis=0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    loaded = tl.load(x + offsets, mask=mask, other=0.0)
    values = loaded.to(tl.float32)
    numbers = tl.rand(seed, offsets)
    dropped = numbers < p
    share_kept = 1.0 - p
    scaled = values / share_kept
    zeros = tl.zeros((BLOCK,), dtype=tl.float32)
    result = tl.where(dropped, zeros, scaled)
    tl.store(out + offsets, result.to(out.dtype.element_ty), mask=mask)
