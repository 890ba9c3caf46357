LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def power(x, maximum):
    """exp(x - maximum); 0 where the maximum is -inf, as of nothing."""
    return tl.exp2((x - tl.where(maximum == -float("inf"), 0.0, maximum)) * LOG2E)


def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_pointers = x + row * x_stride + tl.arange(0, BLOCK)
    # Each lane has a maximum and a sum of its own. They are combined at the end, so the loop reduces nothing.
    highest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        mask = start + tl.arange(0, BLOCK) < columns
        block = tl.load(x_pointers + start, mask=mask, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, block)
        total = total * power(highest, higher) + power(block, higher)
        highest = higher
    maximum = tl.max(highest, axis=0)
    total = tl.sum(total * power(highest, maximum), axis=0)

    out_pointers = out + row * out_stride + tl.arange(0, BLOCK)
    for start in range(0, columns, BLOCK):
        mask = start + tl.arange(0, BLOCK) < columns
        block = tl.load(x_pointers + start, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(out_pointers + start, (power(block, maximum) / total).to(out.dtype.element_ty), mask=mask)
