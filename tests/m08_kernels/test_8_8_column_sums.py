"""Task 8.8: sums of the columns of two matrices, the second stage of the gradients of weight and bias."""

import math

from hypothesis import example, given
from hypothesis import strategies as st
from kernels.layer_norm import sum_parts_kernel

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import kernel_call
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, guarded, normal, rounding


@given(st.integers(1, 70), st.integers(1, 70), SEEDS, st.sampled_from([(32, 64), (16, 16)]), st.sampled_from(FLOATS))
@example(1, 1, 0, (16, 16), "float32")
@example(31, 70, 0, (32, 64), "float32")
@example(33, 5, 0, (32, 64), "float16")
def test_columns_are_added_up(parts: int, columns: int, seed: int, tile: tuple[int, int], dtype: str) -> None:
    lines, block = tile
    sources = [normal((parts, columns), seed + place) for place in (0, 1)]
    results = [guarded(torch.zeros(columns).to(getattr(torch, dtype)), -7) for _ in range(2)]
    pointers = [inner for inner, _ in results] + [guarded(part, math.nan)[0] for part in sources]
    grid = (-(-columns // block),)
    call = kernel_call(sum_parts_kernel, grid, *pointers, parts, columns, BLOCK_P=lines, BLOCK=block)
    call()
    for name, part, result in zip(("dweight", "dbias"), sources, results, strict=True):
        right, limit = part.double().sum(0), parts * U * part.double().abs().sum(0)
        because = f"each matrix has {parts} rows of partial sums, and the memory around it is NaN"
        call.compare_guarded(name, result, right, limit + rounding(right, dtype), because)
