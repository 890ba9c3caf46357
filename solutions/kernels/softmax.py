"""Softmax of rows: `exp(x - max) / sum(exp(x - max))`.

The maximum is subtracted so that no exponential overflows; the subtraction does not change the quotient. A row that
fits in one tile is read once. A longer row is read twice: once for its maximum and its sum of exponentials, which are
computed together ("online"), and once for the result.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_whole, empty_like, on_gpu, size_of, strides_of


@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """Each program computes the softmax of one row of `columns` (at most BLOCK) elements.

    Rows of x start `x_stride` elements apart, and rows of out start `out_stride` elements apart.
    """
    # [task 8.2] The row [0, 0] gives [0.5, 0.5]. Compute in fp32.
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    result = powers / tl.sum(powers, axis=0)
    tl.store(out + row * out_stride + at, result, mask=inside)
    # [end]


@triton.jit
def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """Each program computes the softmax of one row, which may have any length."""
    # [task 8.3] The arguments and the result are those of `softmax_kernel`, but `columns` may exceed BLOCK. A row may
    # start with whole tiles of -inf. Read the row only twice.
    row = tl.program_id(0).to(tl.int64)
    highest = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * x_stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(values, axis=0))
        shift = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(values - shift), axis=0)
        highest = higher
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * x_stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        result = tl.exp(values - highest) / total
        tl.store(out + row * out_stride + at, result, mask=at < columns)
    # [end]


def softmax(x: Any, block: int | None = None, kernel: Any = None) -> Any:
    """Softmax along the last axis of a matrix of floats. Rows longer than a tile are read tile by tile.

    The default `block` suits the device. A `kernel` from `kernels.tuned` chooses the tile itself.
    """
    check("x", x, rank=2)
    rows, columns = x.shape
    out = empty_like(x)
    if size_of(x) == 0:
        return out
    stride, step = strides_of(x)
    if step != 1 and columns > 1:
        raise ValueError(f"the elements of a row of x must be next to each other, but are {step} apart")
    if kernel is not None:
        kernel[(rows,)](out, x, columns, stride, columns)
        return out
    largest = (32768 if on_gpu(x) else 4096) if block is None else block
    check_whole("block", largest, 1)
    kernel = softmax_kernel if columns <= largest else online_softmax_kernel
    size = min(triton.next_power_of_2(columns), largest)
    warps = min(max(size // 512, 1), 16)
    kernel[(rows,)](out, x, columns, stride, columns, BLOCK=size, num_warps=warps)
    return out


if __name__ == "__main__":
    from kernels import demo

    demo.run("softmax")
