"""Softmax of rows: `exp(x - max) / sum(exp(x - max))`.

The maximum is subtracted so that no power overflows; it cancels. A row that fits one block is read once. A longer one
is read twice: once for its maximum and its sum, which are found together ("online"), and once for the result.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, empty_like, on_gpu, size_of, strides_of


@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """One program a row, which fits one block; rows are so many elements apart."""
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


@triton.jit
def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """One program a row, of any length."""
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


def softmax(x: Any, block: int | None = None) -> Any:
    """Softmax along the last axis of a matrix of floats. Rows longer than a block are read block by block.

    Without `block`, it is as large as its device likes, at most.
    """
    check("x", x, rank=2)
    rows, columns = x.shape
    out = empty_like(x)
    if size_of(x) == 0:
        return out
    stride, step = strides_of(x)
    if step != 1 and columns > 1:
        raise ValueError(f"the elements of a row of x must be next to each other, but are {step} apart")
    largest = block or (32768 if on_gpu(x) else 4096)
    kernel = softmax_kernel if columns <= largest else online_softmax_kernel
    size = min(triton.next_power_of_2(columns), largest)
    warps = min(max(size // 512, 1), 16)
    kernel[(rows,)](out, x, columns, stride, columns, BLOCK=size, num_warps=warps)
    return out


def plain(x: Any) -> Any:
    """The same without a kernel, for torch tensors."""
    powers = (x - x.amax(1, keepdim=True)).exp()
    return powers / powers.sum(1, keepdim=True)


if __name__ == "__main__":
    from kernels import demo

    demo.run("softmax")
