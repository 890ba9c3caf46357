"""Task 8.12: the gradient of attention's queries."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.flash_attention import delta_kernel, dq_kernel, gradient_of_q, products_of

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels import attention
from tests.support.m08_kernels.attention import SIZES, TILES, Attention, Gradients, arguments, compare_gradients
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, guarded


@pytest.fixture(scope="module")
def gradients() -> Gradients:
    return Gradients(gradient_of_q, dq_kernel, "BLOCK_M", ("dq",))


@one_in(2)
@given(st.integers(1, 80), SIZES, SEEDS, st.sampled_from([16, 64]), st.sampled_from(FLOATS))
@example(17, 16, 0, 16, "float32")
def test_delta(length: int, size: int, seed: int, block: int, dtype: str) -> None:
    out, dout = arguments((1, 3, length, size), seed, dtype, 2)
    sources = [guarded(x, math.nan)[0] for x in (out, dout)]
    result = guarded(torch.zeros(1, 3, length), -7)
    call = kernel_call(delta_kernel, (-(-length // block), 3), *sources, result[0], length, BLOCK_M=block, D=size)
    call()
    products = out.double() * dout.double()
    limit = (size + 1) * U * products.abs().sum(3)
    because = "the gradient is computed in fp32; the memory around out and dout is NaN"
    call.compare_guarded("delta", result, products.sum(3), limit, because)


test_dq = attention.test_gradients
test_tiles_and_scales = attention.test_gradients_for_tiles_and_scales
test_scores_far_apart = attention.test_gradients_of_scores_far_apart
test_sums_are_kept_in_fp32 = attention.test_sums_are_kept_in_fp32
test_the_kernel_touches_nothing_else = attention.test_the_kernel_touches_nothing_else
test_fp32_is_not_cut_to_tf32 = attention.test_fp32_is_not_cut_to_tf32


@one_in(5)
@given(st.integers(2, 100), SEEDS, TILES, st.integers(0, 3))
@example(64, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, 1)
def test_keys_that_no_query_of_a_block_sees_are_not_loaded(
    length: int, seed: int, tiles: dict[str, int], block: int
) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    right = Attention((q, k, v), causal=True)
    expected, limits = right.gradients(dout)["dq"], right.gradient_limits(dout)["dq"]
    kept = right.kept()[1], right.delta(dout)[0].float()
    rows = (block + 1) * tiles["BLOCK_M"]
    later = -(-rows // tiles["BLOCK_N"]) * tiles["BLOCK_N"]
    k[:, :, later:] = v[:, :, later:] = math.nan
    call = host_call(gradient_of_q, q, k, v, dout, *kept, causal=True, tiles=tiles)
    because = f"the loop should end after the last key that the tile sees; k and v are NaN from key {later} on"
    call.compare(f"dq[:, :, :{rows}]", call()[:, :, :rows], expected[:, :, :rows], limits[:, :, :rows], because=because)


@pytest.mark.parametrize(("dtype", "causal"), [("float32", True), ("float16", False)])
def test_under_real_triton(device: str, dtype: str, causal: bool) -> None:
    *inputs, dout = arguments((1, 2, 37, 16), 0, dtype, 4)
    right = Attention(inputs, causal)
    out, logsumexp = right.kept()
    call = triton_call(device, products_of, out, dout)
    products = out.double() * dout.double()
    call.compare("delta", call(), products.sum(3), 17 * U * products.abs().sum(3))
    tiles = {"BLOCK_M": 16, "BLOCK_N": 32}
    kept = logsumexp, right.delta(dout)[0].float()
    call = triton_call(device, gradient_of_q, *inputs, dout, *kept, causal=causal, tiles=tiles)
    compare_gradients(call, {"dq": call()}, right, dout)
