"""Layer normalization of rows, and its gradient.

Forward: `y = (x - mean) * rstd * weight + bias`, where `rstd = 1 / sqrt(variance + eps)`. The mean and the rstd of each
row are kept. Backward: the dx of a row depends only on that row. dweight and dbias are sums over all rows: each program
adds up some of the rows, and a second kernel adds up the programs' sums.

Source: Ba, Kiros and Hinton, "Layer Normalization" (2016); Triton's tutorial 05.
"""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_statistics, describe, empty_like, on_gpu

LONGEST = 65536  # elements of a row, which must fit in one tile


@triton.jit
def forward_kernel(out, x, weight, bias, mean_out, rstd_out, columns, eps, BLOCK: tl.constexpr):
    """Compute out = (x - mean) * rstd * weight + bias, with one row per program.

    A row has `columns` (at most BLOCK) elements. x and out are contiguous. The mean and the rstd of each row are stored
    in mean_out and rstd_out, in fp32.
    """
    # Task 8.7: The row [1, 3] has mean 2, variance 1 and rstd 1 / sqrt(1 + eps), for any BLOCK. Compute in fp32.
    raise NotImplementedError("Task 8.7: Layer norm, forward")


@triton.jit
def sum_parts_kernel(
    dweight, dbias, dweight_parts, dbias_parts, parts, columns, BLOCK_P: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Add up the lines of `dweight_parts` into dweight, and those of `dbias_parts` into dbias.

    Each of the two matrices has `parts` lines. Each program handles BLOCK columns.
    """
    # Task 8.8: The lines [1, 2] and [3, 4] give [4, 6]. Load BLOCK_P lines at a time. Both matrices of parts are
    # contiguous fp32.
    raise NotImplementedError("Task 8.8: Sums of columns")


@triton.jit
def backward_kernel(
    dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    """Program i of n computes dx for rows i, i + n, i + 2 * n, ...

    The program also writes its sums over these rows to line i of `dweight_parts` and line i of `dbias_parts`.
    """
    # Task 8.9: The formulas are in section 8.8 of the chapter. A program may have no rows; its sums are then 0. x, dy,
    # dx and the parts are contiguous; compute in fp32.
    raise NotImplementedError("Task 8.9: Layer norm, backward")


def layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """The normalized rows of a contiguous (rows, columns) matrix, and the mean and rstd of each row in fp32."""
    rows, columns = check_rows(x)
    check_vector("weight", weight, x)
    check_vector("bias", bias, x)
    out = empty_like(x)
    mean, rstd = (empty_like(x, (rows,), "float32") for _ in range(2))
    forward_kernel[(rows,)](out, x, weight, bias, mean, rstd, columns, float(eps), **block_for(columns))
    return out, mean, rstd


def layer_norm_backward(dy: Any, x: Any, weight: Any, mean: Any, rstd: Any) -> tuple[Any, Any, Any]:
    """The gradients of x, weight and bias, from the gradient of the result and the statistics of `layer_norm`."""
    rows, columns = check_rows(x)
    check("dy", dy, rank=2, contiguous=True)
    check_alike("dy", dy, "x", x)
    if dy.shape != x.shape:
        raise ValueError(f"dy is {describe(dy)} and x is {describe(x)}: their shapes must be equal")
    check_vector("weight", weight, x)
    for name, statistics in {"mean": mean, "rstd": rstd}.items():
        check_statistics(name, statistics, (rows,), "x", x)
    parts = min(256 if on_gpu(x) else 16, rows)
    dx, dweight, dbias = empty_like(x), empty_like(weight), empty_like(weight)
    dweight_parts, dbias_parts = (empty_like(x, (parts, columns), "float32") for _ in range(2))
    arrays = (dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd)
    backward_kernel[(parts,)](*arrays, rows, columns, **block_for(columns))
    grid = (triton.cdiv(columns, 64),)
    sum_parts_kernel[grid](dweight, dbias, dweight_parts, dbias_parts, parts, columns, BLOCK_P=32, BLOCK=64)
    return dx, dweight, dbias


def check_rows(x: Any) -> tuple[int, int]:
    """The shape of `x`. Raise TypeError or ValueError unless it is a contiguous matrix whose rows fit in a tile."""
    check("x", x, rank=2, contiguous=True)
    rows, columns = x.shape
    if not 0 < columns <= LONGEST:
        raise ValueError(f"a row must have 1 to {LONGEST} elements, to fit in a tile, but x is {describe(x)}")
    return rows, columns


def check_vector(name: str, vector: Any, x: Any) -> None:
    """Raise TypeError or ValueError unless `vector` has an element for each column of `x`."""
    check(name, vector, rank=1, contiguous=True)
    check_alike(name, vector, "x", x)
    if vector.shape[0] != x.shape[1]:
        raise ValueError(f"{name} is {describe(vector)} and x is {describe(x)}: each column needs an element")


def block_for(columns: int) -> dict[str, int]:
    """A tile for a row, and the number of warps: each thread has about 16 elements."""
    block = triton.next_power_of_2(columns)
    return {"BLOCK": block, "num_warps": min(max(block // 512, 1), 16)}


if __name__ == "__main__":
    from kernels import demo

    demo.run("layer_norm")
