"""Layer normalisation of rows, and its gradient, one small step after the other."""

from __future__ import annotations

from typing import Any

from kernels.compiler import tl, triton
from kernels.host import check, check_alike, check_statistics, describe, empty_like, on_gpu, size_of

LONGEST = 65536  # elements of a row, which must fit one block


@triton.jit
def forward_kernel(out, x, weight, bias, mean_out, rstd_out, columns, eps, BLOCK: tl.constexpr):
    """One program a row, which fits one block; x and out are contiguous. mean_out and rstd_out are fp32."""
    row = tl.program_id(0)
    columns_of_row = tl.arange(0, BLOCK)
    inside = columns_of_row < columns
    start = row.to(tl.int64) * columns
    x_pointers = x + start + columns_of_row
    out_pointers = out + start + columns_of_row

    values = tl.load(x_pointers, mask=inside, other=0.0)
    values = values.to(tl.float32)
    sum_of_values = tl.sum(values, axis=0)
    mean = sum_of_values / columns
    tl.store(mean_out + row, mean)

    differences = values - mean
    squares = differences * differences
    squares = tl.where(inside, squares, 0.0)
    sum_of_squares = tl.sum(squares, axis=0)
    variance = sum_of_squares / columns
    root = tl.sqrt(variance + eps)
    rstd = 1.0 / root
    tl.store(rstd_out + row, rstd)

    weights = tl.load(weight + columns_of_row, mask=inside, other=1.0)
    biases = tl.load(bias + columns_of_row, mask=inside, other=0.0)
    normalised = differences / root
    result = normalised * weights.to(tl.float32)
    result = result + biases.to(tl.float32)
    result = result.to(out.dtype.element_ty)
    tl.store(out_pointers, result, mask=inside)


@triton.jit
def backward_kernel(
    dx, dweight_parts, dbias_parts, dy, x, weight, mean, rstd, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    """dx of the rows i, i + programs, i + 2 * programs, ..., and line i of the parts: this program's sums over them."""
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    columns_of_row = tl.arange(0, BLOCK)
    inside = columns_of_row < columns
    weights = tl.load(weight + columns_of_row, mask=inside, other=0.0)
    weights = weights.to(tl.float32)
    sum_for_weight = tl.zeros([BLOCK], dtype=tl.float32)
    sum_for_bias = tl.zeros([BLOCK], dtype=tl.float32)

    rounds = (rows + programs - 1) // programs
    for round_number in range(0, rounds):
        row = round_number * programs + program
        if row < rows:
            start = row.to(tl.int64) * columns
            values = tl.load(x + start + columns_of_row, mask=inside, other=0.0)
            values = values.to(tl.float32)
            gradients = tl.load(dy + start + columns_of_row, mask=inside, other=0.0)
            gradients = gradients.to(tl.float32)
            row_mean = tl.load(mean + row)
            row_rstd = tl.load(rstd + row)

            normalised = (values - row_mean) * row_rstd
            sum_for_weight = sum_for_weight + gradients * normalised
            sum_for_bias = sum_for_bias + gradients

            g = gradients * weights  # 0 where it is masked off, and so is its product with anything
            average_of_g = tl.sum(g, axis=0) / columns
            average_of_product = tl.sum(g * normalised, axis=0) / columns
            result = g - average_of_g
            result = result - normalised * average_of_product
            result = result * row_rstd
            tl.store(dx + start + columns_of_row, result.to(dx.dtype.element_ty), mask=inside)

    line = program * columns
    tl.store(dweight_parts + line + columns_of_row, sum_for_weight, mask=inside)
    tl.store(dbias_parts + line + columns_of_row, sum_for_bias, mask=inside)


@triton.jit
def sum_parts_kernel(
    dweight, dbias, dweight_parts, dbias_parts, parts, columns, BLOCK_P: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The sums of the columns of both parts, which have `parts` lines. Each program has BLOCK columns."""
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = mine < columns
    weight_total = tl.zeros([BLOCK], dtype=tl.float32)
    bias_total = tl.zeros([BLOCK], dtype=tl.float32)
    for line in range(0, parts):  # one line at a time: simple, and slower than BLOCK_P at a time
        weight_total = weight_total + tl.load(dweight_parts + line * columns + mine, mask=inside, other=0.0)
        bias_total = bias_total + tl.load(dbias_parts + line * columns + mine, mask=inside, other=0.0)
    tl.store(dweight + mine, weight_total.to(dweight.dtype.element_ty), mask=inside)
    tl.store(dbias + mine, bias_total.to(dbias.dtype.element_ty), mask=inside)


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
