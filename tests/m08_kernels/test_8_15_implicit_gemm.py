"""Task 8.15: convolution as a matrix product, whose left matrix is never built."""

import pytest

from tests.oracles import pytorch as torch
from tests.support.m08_kernels import convolution
from tests.support.m08_kernels.convolution import Case, expected_of, launch

test_every_window = convolution.test_every_window
test_tiles_do_not_change_the_answer = convolution.test_tiles_do_not_change_the_answer
test_sums_are_fp32 = convolution.test_sums_are_fp32
test_a_nan_is_where_it_is_seen = convolution.test_a_nan_is_where_it_is_seen
test_programs_write_their_own_channels_only = convolution.test_programs_write_their_own_channels_only
test_under_real_triton = convolution.test_under_real_triton


@pytest.fixture(scope="module")
def direct() -> bool:
    return False


def test_fp32_is_not_cut_to_tf32(direct: bool) -> None:
    x, w, options = Case((1, 2, 3, 3, 3), (2, 2)).operands()
    out = torch.zeros(expected_of(x, w, options).shape)
    launch(out, x, w, options, direct).insist_on_fp32()
