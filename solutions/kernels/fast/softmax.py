"""Softmax of rows that fit one block, several rows a program."""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.fast.rows import by_rows
from kernels.host import check, empty_like, strides_of


@triton.jit
def softmax_kernel(
    out, x, out_stride, x_stride, rows, columns, BLOCK: tl.constexpr, ROWS: tl.constexpr
):  # fmt: skip
    """ROWS rows a program; each fits BLOCK."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (at < columns)[None, :]
    place = row.to(tl.int64)[:, None]
    values = tl.load(x + place * x_stride + at[None, :], mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=1)[:, None])
    result = powers * (1 / tl.sum(powers, axis=1))[:, None]
    tl.store(out + place * out_stride + at[None, :], result.to(out.dtype.element_ty), mask=inside)


tuned = by_rows(softmax_kernel)


def softmax(x: Any) -> Any:
    """Softmax along the last axis of a matrix whose rows fit a block, and are contiguous."""
    check("x", x, rank=2)
    out = empty_like(x)
    rows, columns = x.shape
    tuned[lambda meta: (triton.cdiv(rows, meta["ROWS"]),)](
        out, x, strides_of(out)[0], strides_of(x)[0], rows, columns
    )  # fmt: skip
    return out
