"""Task 8.3: softmax of rows that are longer than a block."""

from __future__ import annotations

import math

from hypothesis import example, given
from hypothesis import strategies as st
from kernels.softmax import online_softmax_kernel, softmax

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import triton_call
from tests.support.m08_kernels.softmax import (
    INF,
    SCALES,
    allowed,
    check,
    check_memory,
    expected_of,
)
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, normal

LONGER = st.one_of(st.sampled_from([1, 15, 16, 17, 48, 240]), st.integers(1, 300))  # than a block, by so many elements
DTYPES = st.sampled_from([*FLOATS, "float64"])


@given(st.integers(1, 5), LONGER, SEEDS, st.sampled_from(SCALES), DTYPES, st.sampled_from([16, 64]))
@example(1, 8, 77, 1.0, "float32", 16)  # the second block has the maximum, by far
@example(1, 1, 0, 1.0, "float32", 16)
@example(2, 4936, 0, 1.0, "float16", 64)
@example(1, 904, 0, 1.0, "float32", 4096)
def test_rows_of_many_blocks(rows: int, longer: int, seed: int, scale: float, dtype: str, block: int) -> None:
    because = "rows longer than a block are read block by block"
    check(softmax, normal((rows, block + longer), seed, dtype, scale), block, because)


@given(st.lists(st.sampled_from([-INF, -3.0, 0.0, 2.5, INF, math.nan]), min_size=17, max_size=56))
@example([-INF] * 20 + [1.0])
@example([1.0] + [-INF] * 20)
@example([-INF] * 40)
def test_infinities_and_nan(row: list[float]) -> None:
    because = "-inf has no share, a row of nothing but -inf is NaN, and so is one with NaN or inf"
    check(softmax, torch.tensor([row, [1.0] * len(row)]), 16, because)


@given(st.integers(1, 40), SEEDS, st.integers(1, 9))
def test_the_kernel_touches_nothing_else(columns: int, seed: int, gap: int) -> None:
    check_memory(online_softmax_kernel, columns, seed, gap, 16)


@one_in(25)
@given(SEEDS)
def test_under_real_triton(device: str, seed: int) -> None:
    for shape, dtype, block in (((2, 37), "float16", 16), ((3, 130), "float32", 32)):
        x = normal(shape, seed, dtype, 5.0)
        x[1, :34] = -INF
        expected = expected_of(x)
        triton_call(device, softmax, x, block=block).gives(expected, allowed(x, expected, block), x.dtype)
