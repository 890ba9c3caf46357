"""Layer normalisation with sums for each lane: rows need not fit a block."""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_statistics, describe, empty_like, on_gpu, size_of

LONGEST = 65536  # elements of a row, which must fit one block


@triton.jit
def forward_kernel(out, x, weight, bias, mean_out, rstd_out, columns, eps, BLOCK: tl.constexpr):
    """One program a row, of any length: sums are kept for each lane, and added up at the end."""
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


@triton.jit
def backward_kernel(
    dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    """A program has every so many rows, and keeps its sums in registers: no locks."""
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


@triton.jit
def sum_parts_kernel(
    dweight, dbias, dweight_parts, dbias_parts, parts, columns, BLOCK_P: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Each tile is added up at once."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    for i in range(tl.cdiv(parts, BLOCK_P)):
        line = i * BLOCK_P + tl.arange(0, BLOCK_P)
        mask = (line[None, :] < parts) & (column[:, None] < columns)
        place = line[None, :] * columns + column[:, None]
        dw += tl.sum(tl.load(dweight_parts + place, mask=mask, other=0.0), axis=1)
        db += tl.sum(tl.load(dbias_parts + place, mask=mask, other=0.0), axis=1)
    tl.store(dweight + column, dw.to(dweight.dtype.element_ty), mask=column < columns)
    tl.store(dbias + column, db.to(dbias.dtype.element_ty), mask=column < columns)


def layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """The normalised rows of a contiguous (rows, columns) matrix, and each row's mean and rstd, which are fp32."""
    check("x", x, rank=2, contiguous=True)
    rows, columns = x.shape
    check_vector("weight", weight, x)
    check_vector("bias", bias, x)
    if columns > LONGEST:
        raise ValueError(f"a row must fit one block of {LONGEST} elements, but x is {describe(x)}")
    out = empty_like(x)
    mean, rstd = (empty_like(x, (rows,), "float32") for _ in range(2))
    if size_of(x):
        forward_kernel[(rows,)](out, x, weight, bias, mean, rstd, columns, float(eps), **block_for(columns))
    return out, mean, rstd


def layer_norm_backward(dy: Any, x: Any, weight: Any, mean: Any, rstd: Any) -> tuple[Any, Any, Any]:
    """The gradients of x, weight and bias, from that of the result and what `layer_norm` kept."""
    check("x", x, rank=2, contiguous=True)
    check("dy", dy, rank=2, contiguous=True)
    check_alike("dy", dy, "x", x)
    if dy.shape != x.shape:
        raise ValueError(f"dy is {describe(dy)}, x is {describe(x)}: their shapes must be equal")
    check_vector("weight", weight, x)
    rows, columns = x.shape
    for name, statistics in {"mean": mean, "rstd": rstd}.items():
        check_statistics(name, statistics, (rows,), "x", x)
    parts = min(256 if on_gpu(x) else 64, rows)
    dx, dweight, dbias = empty_like(x), empty_like(weight), empty_like(weight)
    dweight_parts, dbias_parts = (empty_like(x, (parts, columns), "float32") for _ in range(2))
    arrays = (dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd)
    if columns:
        backward_kernel[(parts,)](*arrays, rows, columns, **block_for(columns))
        grid = (triton.cdiv(columns, 64),)
        sum_parts_kernel[grid](dweight, dbias, dweight_parts, dbias_parts, parts, columns, BLOCK_P=32, BLOCK=64)
    return dx, dweight, dbias


def check_vector(name: str, vector: Any, x: Any) -> None:
    """Raise TypeError or ValueError unless `vector` has an element for each column of `x`."""
    check(name, vector, rank=1, contiguous=True)
    check_alike(name, vector, "x", x)
    if vector.shape[0] != x.shape[1]:
        raise ValueError(f"{name} is {describe(vector)}, x is {describe(x)}: it must have an element for each column")


def block_for(columns: int) -> dict[str, int]:
    """A block that a row fits, and warps for it: each thread has some 16 elements."""
    block = triton.next_power_of_2(columns)
    return {"BLOCK": block, "num_warps": min(max(block // 512, 1), 16)}


def plain(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    """The forward pass without a kernel, for torch tensors."""
    centred = x - x.mean(1, keepdim=True)
    return centred / (centred.square().mean(1, keepdim=True) + eps).sqrt() * weight + bias


if __name__ == "__main__":
    from kernels import demo

    demo.run("layer_norm")
