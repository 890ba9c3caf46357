"""Task 8.11: attention in which no query sees a later key."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.compiler import tl, triton
from kernels.flash_attention import attention, end_of_keys, is_seen

from tests.checks import one_in
from tests.support.m08_kernels import attention as shared
from tests.support.m08_kernels.attention import LENGTHS, TILES, arguments
from tests.support.m08_kernels.host_calls import host_call, kernel_call
from tests.support.m08_kernels.tensors import SEEDS


@pytest.fixture(scope="module")
def causal() -> bool:
    return True


@triton.jit
def seen_kernel(seen, ends, first, length, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.arange(0, BLOCK_M) + tl.program_id(0) * BLOCK_M
    place = rows[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    tl.store(seen + place, is_seen(rows, first + tl.arange(0, BLOCK_N), length, True).to(tl.int8))
    tl.store(ends + tl.program_id(0), end_of_keys(length, True, BLOCK_M))


@given(LENGTHS, st.integers(0, 140), TILES)
@example(16, 0, {"BLOCK_M": 16, "BLOCK_N": 16})
@example(40, 32, {"BLOCK_M": 16, "BLOCK_N": 64})
def test_visible_keys(length: int, first: int, tiles: dict[str, int]) -> None:
    m, n = tiles["BLOCK_M"], tiles["BLOCK_N"]
    programs = -(-length // m)
    seen, ends = np.zeros((programs * m, n), np.int8), np.zeros(programs, np.int32)
    call = kernel_call(seen_kernel, (programs,), seen, ends, first, length, **tiles)
    call()
    queries, keys = np.arange(length)[:, None], first + np.arange(n)[None, :]
    expected = ((keys < length) & (keys <= queries)).astype(np.int8)
    call.compare(f"is_seen, for keys from {first} on", seen[:length], expected, because="query i sees the keys 0 to i")
    expected = np.minimum(length, (np.arange(programs) + 1) * m)
    because = f"the last of a program's {m} queries sees its own key, and there are {length} keys"
    call.compare("end_of_keys, for each program", ends, expected, because=because)


test_attention = shared.test_attention
test_tiles_and_scales = shared.test_tiles_and_scales


@one_in(5)
@given(st.integers(2, 140), SEEDS, TILES, st.integers(0, 4))
@example(64, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, 0)
def test_keys_that_no_query_of_a_block_sees_are_not_loaded(
    length: int, seed: int, tiles: dict[str, int], block: int
) -> None:
    q, k, v = arguments((1, 2, length, 16), seed)
    rows = (block + 1) * tiles["BLOCK_M"]  # the number of queries in the tiles from the first to number `block`
    # the first key after the last tile of keys that these queries see
    later = -(-rows // tiles["BLOCK_N"]) * tiles["BLOCK_N"]
    before = host_call(attention, q, k, v, causal=True, tiles=tiles)()
    k, v = k.clone(), v.clone()
    k[:, :, later:] = v[:, :, later:] = math.nan
    call = host_call(attention, q, k, v, causal=True, tiles=tiles)
    because = f"the loop should end after the last key that the tile sees; k and v are NaN from key {later} on"
    for name, got, old in zip(("out", "logsumexp"), call(), before, strict=True):
        call.compare(f"{name}[:, :, :{rows}]", got[:, :, :rows], old[:, :, :rows], because=because)


test_under_real_triton = shared.test_attention_under_real_triton
