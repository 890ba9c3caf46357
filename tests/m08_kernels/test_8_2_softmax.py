"""Task 8.2: softmax of rows that fit in one tile."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.softmax import softmax_kernel

from tests.support.m08_kernels import softmax
from tests.support.m08_kernels.softmax import SCALES, check
from tests.support.m08_kernels.tensors import FLOATS, LENGTHS, SEEDS, normal


@pytest.fixture(scope="module")
def kernel() -> Any:
    return softmax_kernel


@pytest.fixture(scope="module")
def block() -> int:
    return 256


@given(st.integers(1, 5), LENGTHS, SEEDS, st.sampled_from(SCALES), st.sampled_from([*FLOATS, "float64"]))
@example(1, 1, 0, 1.0, "float32")
@example(3, 1000, 0, 30.0, "float32")
def test_rows_in_one_block(rows: int, columns: int, seed: int, scale: float, dtype: str) -> None:
    check(normal((rows, columns), seed, dtype, scale))


test_infinities_and_nan = softmax.test_infinities_and_nan
test_rows_far_from_zero = softmax.test_rows_far_from_zero
test_the_kernel_touches_nothing_else = softmax.test_the_kernel_touches_nothing_else
test_under_real_triton = softmax.test_under_real_triton
