"""Task 8.2: softmax of rows that fit one block."""

from __future__ import annotations

import math

from hypothesis import example, given
from hypothesis import strategies as st
from kernels.softmax import softmax, softmax_kernel

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
from tests.support.m08_kernels.tensors import FLOATS, LENGTHS, SEEDS, normal


@given(st.integers(1, 5), LENGTHS, SEEDS, st.sampled_from(SCALES), st.sampled_from([*FLOATS, "float64"]))
@example(1, 1, 0, 1.0, "float32")
@example(3, 1000, 0, 30.0, "float32")
def test_rows_in_one_block(rows: int, columns: int, seed: int, scale: float, dtype: str) -> None:
    check(softmax, normal((rows, columns), seed, dtype, scale))


@given(st.lists(st.sampled_from([-INF, -3.0, 0.0, 2.5, INF, math.nan]), min_size=1, max_size=40))
@example([-INF] * 20 + [1.0])
@example([-INF] * 40)
def test_infinities_and_nan(row: list[float]) -> None:
    because = "-inf has no share, a row of nothing but -inf is NaN, and so is one with NaN or inf"
    check(softmax, torch.tensor([row, [1.0] * len(row)]), because=because)


@given(st.integers(1, 40), SEEDS, st.integers(1, 9))
def test_the_kernel_touches_nothing_else(columns: int, seed: int, gap: int) -> None:
    check_memory(softmax_kernel, columns, seed, gap, 64)


@one_in(25)
@given(SEEDS)
def test_under_real_triton(device: str, seed: int) -> None:
    for columns, dtype in ((37, "float32"), (130, "float16")):
        x = normal((2, columns), seed, dtype, 5.0)
        x[1, :34] = -INF
        expected = expected_of(x)
        triton_call(device, softmax, x).gives(expected, allowed(x, expected), x.dtype)
