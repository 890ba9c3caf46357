"""Task 8.10: attention, a tile of keys at a time."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.flash_attention import forward_kernel

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels import attention
from tests.support.m08_kernels.attention import LENGTHS, TILES, Attention, arguments, check_attention
from tests.support.m08_kernels.host_calls import kernel_call
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, guarded

test_attention = attention.test_attention
test_tiles_and_scales = attention.test_tiles_and_scales


@pytest.fixture(scope="module")
def causal() -> bool:
    return False


@given(LENGTHS, SEEDS, st.sampled_from([1, 64, 4096]), st.sampled_from(FLOATS))
@example(17, 0, 4096, "float16")
def test_scores_far_apart(length: int, seed: int, factor: int, dtype: str) -> None:
    q, k, v = arguments((1, 2, length, 16), seed, dtype)
    because = f"scores are multiples of {factor}: the largest score gets all of the weight, and fp32 must not overflow"
    check_attention((torch.sign(q) * factor, torch.sign(k), v), because, exact=True, scale=1.0)


@given(LENGTHS, SEEDS, st.sampled_from([-1e5, -300.0, 300.0, 1e4]))
@example(17, 0, -1e5)
def test_scores_that_are_all_far_from_0(length: int, seed: int, constant: float) -> None:
    q, k, v = arguments((1, 2, length, 16), seed)
    q[..., 0], k[..., 0] = 1.0, constant
    check_attention((q, k, v), f"a constant element of q and k adds {constant / 4} to each score")


@one_in(2)
@given(st.integers(1, 80), SEEDS, TILES)
@example(17, 0, {"BLOCK_M": 16, "BLOCK_N": 64})
def test_the_kernel_touches_nothing_else(length: int, seed: int, tiles: dict[str, int]) -> None:
    arrays = arguments((1, 3, length, 16), seed)
    inputs = [guarded(x, math.nan)[0] for x in arrays]
    results = {"out": guarded(torch.zeros(arrays[0].shape), -7), "logsumexp": guarded(torch.zeros(1, 3, length), -7)}
    pointers = [inner for inner, _ in results.values()]
    grid = (-(-length // tiles["BLOCK_M"]), 3)
    call = kernel_call(forward_kernel, grid, *inputs, *pointers, 0.25, length, CAUSAL=False, D=16, **tiles)
    call()
    right = Attention(arrays)
    expected = {"out": right.out, "logsumexp": right.logsumexp}
    for name, result in results.items():
        call.compare_guarded(name, result, expected[name], right.limits[name], "the memory around q, k and v is NaN")


def test_fp32_is_not_cut_to_tf32() -> None:
    arrays = arguments((1, 1, 16, 16), 0)
    results = (torch.zeros(1, 1, 16, 16), torch.zeros(1, 1, 16))
    options = {"CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16, "D": 16}
    kernel_call(forward_kernel, (1, 1), *arrays, *results, 0.25, 16, **options).insist_on_fp32()


test_under_real_triton = attention.test_attention_under_real_triton
