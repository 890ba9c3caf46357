"""Softmax of rows: `exp(x - max) / sum(exp(x - max))`.

The maximum is subtracted so that no power overflows; it cancels. A row that fits one block is read once. A longer one
is read twice: once for its maximum and its sum, which are found together ("online"), and once for the result.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, empty_like, on_gpu, size_of, strides_of

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def power(x, maximum):
    """exp(x - maximum); 0 where the maximum is -inf, as of nothing."""
    return tl.exp2((x - tl.where(maximum == -float("inf"), 0.0, maximum)) * LOG2E)


@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """One program a row, which fits one block; rows are so many elements apart."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    block = tl.load(x + row * x_stride + offsets, mask=mask, other=-float("inf")).to(tl.float32) * LOG2E
    numerator = tl.exp2(block - tl.max(block, axis=0))
    denominator = tl.sum(numerator, axis=0)
    tl.store(out + row * out_stride + offsets, (numerator / denominator).to(out.dtype.element_ty), mask=mask)


@triton.jit
def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """One program a row, of any length."""
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
