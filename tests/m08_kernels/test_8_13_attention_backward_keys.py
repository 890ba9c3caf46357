"""Task 8.13: the gradients of attention's keys and values, and all three together."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.flash_attention import attention_backward, dkdv_kernel, gradients_of_kv

from tests.checks import one_in
from tests.support.m08_kernels import attention
from tests.support.m08_kernels.attention import (
    GRADIENTS,
    TILES,
    Attention,
    Gradients,
    arguments,
    compare_gradients,
)
from tests.support.m08_kernels.host_calls import host_call, triton_call
from tests.support.m08_kernels.tensors import SEEDS


@pytest.fixture(scope="module")
def gradients() -> Gradients:
    return Gradients(gradients_of_kv, dkdv_kernel, "BLOCK_N", ("dk", "dv"))


test_dk_and_dv = attention.test_gradients
test_tiles_and_scales = attention.test_gradients_for_tiles_and_scales
test_scores_far_apart = attention.test_gradients_of_scores_far_apart
test_sums_are_kept_in_fp32 = attention.test_sums_are_kept_in_fp32
test_the_kernel_touches_nothing_else = attention.test_the_kernel_touches_nothing_else
test_fp32_is_not_cut_to_tf32 = attention.test_fp32_is_not_cut_to_tf32


@one_in(5)
@given(st.integers(2, 100), SEEDS, TILES, st.integers(0, 3))
@example(64, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, 1)
def test_queries_that_see_none_of_the_keys_are_not_loaded(
    length: int, seed: int, tiles: dict[str, int], block: int
) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    right = Attention((q, k, v), causal=True)
    expected, limits = right.gradients(dout), right.gradient_limits(dout)
    kept = right.kept()[1], right.delta(dout)[0].float()
    first = block * tiles["BLOCK_N"]
    earlier = first // tiles["BLOCK_M"] * tiles["BLOCK_M"]
    q[:, :, :earlier] = math.nan
    call = host_call(gradients_of_kv, q, k, v, dout, *kept, causal=True, tiles=tiles)
    because = (
        f"the loop should begin at the first query that sees these keys, or in its tile; q is NaN before row {earlier}"
    )
    for name, got in zip(("dk", "dv"), call(), strict=True):
        near = expected[name][:, :, first:], limits[name][:, :, first:]
        call.compare(f"{name}[:, :, {first}:]", got[:, :, first:], *near, because=because)


def test_under_real_triton(device: str) -> None:
    cases = [("float32", True, 37, {"BLOCK_M": 16, "BLOCK_N": 32}), ("float16", False, 65, {})]
    if device == "cuda":  # real Triton's interpreter does not round bf16
        cases += [("bfloat16", True, 130, {}), ("float16", True, 1000, {})]
    for dtype, causal, length, tiles in cases:
        *inputs, dout = arguments((1, 2, length, 16), 0, dtype, 4)
        right = Attention(inputs, causal)
        call = triton_call(device, attention_backward, dout, *inputs, *right.kept(), causal=causal, tiles=tiles)
        compare_gradients(call, dict(zip(GRADIENTS, call(), strict=True)), right, dout)
