"""Task 8.15: convolution as a matrix product, whose left matrix is never built."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.conv2d import conv2d

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.convolution import (
    FEW,
    FILTERS,
    GROUPS,
    SIZES,
    SOME,
    STEPS,
    TILES,
    allowed,
    check,
    check_fp32_sums,
    check_memory,
    check_nan_in_filter,
    check_nan_in_image,
    check_tiles,
    expected_of,
    launch,
    operands,
)
from tests.support.m08_kernels.host_calls import triton_call
from tests.support.m08_kernels.precision import insist_on_fp32
from tests.support.m08_kernels.tensors import FLOATS, SEEDS

DIRECT = False
Sizes = tuple[int, ...]


@SOME
@given(SIZES, FILTERS, STEPS, GROUPS, SEEDS)
@example((1, 1, 1, 0, 0), (1, 1), (1, 0, 1), 1, 0)
@example((2, 2, 3, 6, 3), (2, 3), (1, 0, 1), 1, 0)
@example((2, 3, 2, 4, 7), (5, 1), (2, 1, 1), 2, 0)
@example((1, 2, 2, 8, 5), (3, 3), (3, 2, 2), 3, 0)
@example((1, 1, 1, 2, 4), (1, 1), (1, 3, 1), 1, 0)
@example((2, 1, 2, 4, 6), (3, 3), (1, 1, 1), 6, 0)
def test_every_window(size: Sizes, filter: Sizes, step: Sizes, groups: int, seed: int) -> None:
    check(*operands(size, filter, step, groups, seed), direct=DIRECT, tiles=TILES[DIRECT])


@FEW
@given(st.sampled_from(FLOATS), SEEDS)
@example("float16", 0)
@example("bfloat16", 0)
def test_dtypes(dtype: str, seed: int) -> None:
    check(*operands((2, 3, 20, 12, 9), (3, 2), (1, 1, 2), 2, seed, dtype), direct=DIRECT)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_are_fp32(dtype: str) -> None:
    check_fp32_sums(DIRECT, dtype)


@FEW
@given(SEEDS)
def test_tiles_do_not_change_the_answer(seed: int) -> None:
    check_tiles(DIRECT, seed)


@SOME
@given(SIZES, FILTERS, STEPS, GROUPS, SEEDS, st.floats(0, 0.999), st.sampled_from([math.nan, math.inf, -math.inf]))
@example((2, 2, 2, 5, 5), (3, 3), (1, 1, 1), 1, 0, 0.4, math.nan)
def test_a_nan_is_in_the_windows_that_see_it(
    size: Sizes, filter: Sizes, step: Sizes, groups: int, seed: int, place: float, value: float
) -> None:
    check_nan_in_image(DIRECT, operands(size, filter, step, groups, seed), place, value)


@SOME
@given(st.integers(1, 3), GROUPS, SEEDS, FILTERS)
def test_a_nan_in_a_filter_is_in_its_channel(each: int, groups: int, seed: int, filter: Sizes) -> None:
    check_nan_in_filter(DIRECT, operands((2, 2, each, 3, 4), filter, (1, 0, 1), groups, seed), seed)


@SOME
@given(SIZES, FILTERS, STEPS, GROUPS, SEEDS, st.sampled_from([0.5, 1.0]))
@example((1, 1, 1, 4, 4), (3, 3), (1, 2, 1), 1, 0, 1.0)
@example((1, 2, 3, 3, 4), (3, 2), (1, 1, 1), 2, 0, 0.5)
def test_programs_write_their_own_channels_only(
    size: Sizes, filter: Sizes, step: Sizes, groups: int, seed: int, share: float
) -> None:
    check_memory(DIRECT, operands(size, filter, step, groups, seed), share)


def test_fp32_is_not_cut_to_tf32() -> None:
    x, w, options = operands((1, 2, 3, 3, 3), (2, 2), (1, 0, 1), 1, 0)
    out = torch.zeros(expected_of(x, w, options).shape)
    insist_on_fp32(launch(out, x, w, options, DIRECT))


@one_in(50)
@given(SEEDS)
def test_under_real_triton(device: str, seed: int) -> None:
    for size, filter, step, groups, dtype in (
        ((2, 3, 2, 3, 4), (2, 3), (2, 1, 1), 2, "float32"),
        ((1, 4, 3, 5, 4), (1, 3), (1, 2, 2), 1, "float16"),
    ):
        x, w, options = operands(size, filter, step, groups, seed, dtype)
        expected = expected_of(x, w, options)
        call = triton_call(device, conv2d, x, w, **options, direct=DIRECT, tiles=TILES[DIRECT])
        call.gives(expected, allowed(x, w, options, expected), x.dtype)
