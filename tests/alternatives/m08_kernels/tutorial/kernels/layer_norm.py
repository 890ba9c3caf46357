"""Layer normalisation with sums for each lane: rows need not fit a block."""


def forward_kernel(out, x, weight, bias, mean_out, rstd_out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    out += row * columns
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        centred = tl.where(at < columns, values - mean, 0.0)
        squares += centred * centred
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        xhat = (tl.load(x + at, mask=inside, other=0.0).to(tl.float32) - mean) * rstd
        w = tl.load(weight + at, mask=inside).to(tl.float32)
        y = xhat * w + tl.load(bias + at, mask=inside).to(tl.float32)
        tl.store(out + at, y.to(out.dtype.element_ty), mask=inside)


@triton.jit
def dx_of(dy, xhat, weight, rstd, columns):
    """A row's gradient: without what would move its mean, and what would change its variance."""
    wdy = weight * dy
    c1 = tl.sum(xhat * wdy, axis=0) / columns
    c2 = tl.sum(wdy, axis=0) / columns
    return (wdy - (xhat * c1 + c2)) * rstd


def backward_kernel(
    dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    at = tl.arange(0, BLOCK)
    mask = at < columns
    w = tl.load(weight + at, mask=mask).to(tl.float32)
    partial_dw = tl.zeros((BLOCK,), tl.float32)
    partial_db = tl.zeros((BLOCK,), tl.float32)
    row = tl.program_id(0)
    while row < rows:
        place = row.to(tl.int64) * columns + at
        x_row = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        dy_row = tl.load(dy + place, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(rstd + row)
        xhat = (x_row - tl.load(mean + row)) * r
        xhat = tl.where(mask, xhat, 0.0)
        gradient = dx_of(dy_row, xhat, tl.where(mask, w, 0.0), r, columns)
        tl.store(dx + place, gradient.to(dx.dtype.element_ty), mask=mask)
        partial_dw = tl.fma(dy_row, xhat, partial_dw)
        partial_db += dy_row
        row += tl.num_programs(0)
    line = tl.program_id(0) * columns + at
    tl.store(dweight_parts + line, partial_dw, mask=mask)
    tl.store(dbias_parts + line, partial_db, mask=mask)
