"""Task 8.14: convolution; each program computes a tile of pixels for one filter."""

import pytest

from tests.support.m08_kernels import convolution

test_every_window = convolution.test_every_window
test_tiles_do_not_change_the_answer = convolution.test_tiles_do_not_change_the_answer
test_sums_are_fp32 = convolution.test_sums_are_fp32
test_a_nan_is_where_it_is_seen = convolution.test_a_nan_is_where_it_is_seen
test_programs_write_their_own_channels_only = convolution.test_programs_write_their_own_channels_only
test_under_real_triton = convolution.test_under_real_triton


@pytest.fixture(scope="module")
def direct() -> bool:
    return True
