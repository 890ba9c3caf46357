"""Task 8.14: convolution, a block of pixels of one filter a program."""

from __future__ import annotations

import math
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.m08_kernels.convolution import (
    FEW,
    REAL,
    TILES,
    Case,
    check,
    check_fp32_sums,
    check_memory,
    check_nan,
    check_tiles,
    some_cases,
)
from tests.support.m08_kernels.host_calls import triton_call
from tests.support.m08_kernels.tensors import FLOATS, SEEDS

DIRECT = True


@some_cases
def test_every_window(case: Case) -> None:
    check(DIRECT, case.operands(), tiles=TILES[DIRECT])


@FEW
@given(st.sampled_from(FLOATS), SEEDS)
@example("float16", 0)
@example("bfloat16", 0)
def test_tiles_do_not_change_the_answer(dtype: str, seed: int) -> None:
    check_tiles(DIRECT, seed, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_are_fp32(dtype: str) -> None:
    check_fp32_sums(DIRECT, dtype)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@some_cases
def test_a_nan_is_where_it_is_seen(value: float, case: Case) -> None:
    check_nan(DIRECT, case, value)


@pytest.mark.parametrize("share", [0.5, 1.0])
@some_cases
def test_programs_write_their_own_channels_only(share: float, case: Case) -> None:
    check_memory(DIRECT, case, share)


@pytest.mark.parametrize("case", REAL)
def test_under_real_triton(device: str, case: Case) -> None:
    check(DIRECT, case.operands(), tiles=TILES[DIRECT], ask=partial(triton_call, device))
