"""Task 8.3: softmax of rows that are longer than a block."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.softmax import online_softmax_kernel

from tests.support.m08_kernels import softmax
from tests.support.m08_kernels.softmax import SCALES, check
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, normal

LONGER = st.one_of(
    st.sampled_from([1, 15, 16, 17, 48, 240]), st.integers(1, 300)
)  # number of elements by which a row exceeds a block


@pytest.fixture(scope="module")
def kernel() -> Any:
    return online_softmax_kernel


@pytest.fixture(scope="module")
def block() -> int:
    return 16


@given(
    st.integers(1, 5),
    LONGER,
    SEEDS,
    st.sampled_from(SCALES),
    st.sampled_from([*FLOATS, "float64"]),
    st.sampled_from([16, 64]),
)
@example(1, 8, 77, 1.0, "float32", 16)  # the maximum is in the second block, and by far the largest element
@example(1, 1, 0, 1.0, "float32", 16)
@example(2, 4936, 0, 1.0, "float16", 64)
@example(1, 904, 0, 1.0, "float32", 4096)
def test_rows_of_many_blocks(rows: int, longer: int, seed: int, scale: float, dtype: str, block: int) -> None:
    because = "rows longer than a block are read block by block"
    check(normal((rows, block + longer), seed, dtype, scale), block, because)


test_infinities_and_nan = softmax.test_infinities_and_nan
test_rows_far_from_zero = softmax.test_rows_far_from_zero
test_the_kernel_touches_nothing_else = softmax.test_the_kernel_touches_nothing_else
test_under_real_triton = softmax.test_under_real_triton
