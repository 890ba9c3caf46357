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
    # Task 8.2: The row [0, 0] gives [0.5, 0.5]. Compute in fp32.
    raise NotImplementedError("Task 8.2: Softmax")


@triton.jit
def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """Each program computes the softmax of one row, which may have any length."""
    # Task 8.3: The arguments and the result are those of `softmax_kernel`, but `columns` may exceed BLOCK. A row may
    # start with whole tiles of -inf. Read the row only twice.
    raise NotImplementedError("Task 8.3: Online softmax")


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
