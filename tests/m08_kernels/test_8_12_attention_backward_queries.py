"""Task 8.12: the gradient of attention's queries."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.flash_attention import delta_kernel, dq_kernel, gradient_of_q, products_of

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.attention import (
    HEADS,
    LENGTHS,
    SIZES,
    TILES,
    Attention,
    arguments,
    check_gradients,
    check_memory_of_gradients,
    compare_gradients,
    with_sums_beyond_fp16,
)
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.precision import insist_on_fp32
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, guarded

CAUSAL = st.booleans()


def check(arrays: Any, because: str = "", exact: bool = False, **options: Any) -> None:
    check_gradients(gradient_of_q, ("dq",), arrays, because, exact, **options)


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
    because = "it is computed in fp32, and NaN is around out and dout"
    call.compare_guarded("delta", result, products.sum(3), limit, because)


@one_in(2)
@given(HEADS, LENGTHS, SIZES, CAUSAL, SEEDS, st.sampled_from(FLOATS))
@example((1, 1), 16, 16, False, 0, "float32")
@example((2, 2), 65, 16, False, 0, "float32")
@example((2, 2), 130, 64, True, 0, "float16")
@example((1, 2), 40, 256, True, 0, "float16")
def test_dq(heads: tuple[int, int], length: int, size: int, causal: bool, seed: int, dtype: str) -> None:
    check(arguments((*heads, length, size), seed, dtype, 4), causal=causal)


@one_in(3)
@given(LENGTHS, CAUSAL, SEEDS, TILES, st.sampled_from(["float32", "float16"]), st.sampled_from([None, 1.0, 0.01, 3.0]))
@example(17, False, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, "float32", 1.0)
@example(65, True, 0, {"BLOCK_M": 16, "BLOCK_N": 64}, "float32", None)
@example(65, True, 0, {"BLOCK_M": 64, "BLOCK_N": 16}, "float32", None)
def test_tiles_and_scales(
    length: int, causal: bool, seed: int, tiles: dict[str, int], dtype: str, scale: float | None
) -> None:
    arrays = arguments((1, 2, length, 16), seed, dtype, 4)
    check(arrays, "dq is scaled, once", causal=causal, scale=scale, tiles=tiles)


@one_in(3)
@given(LENGTHS, CAUSAL, SEEDS, st.sampled_from([1, 64, 4096]))
def test_scores_far_apart(length: int, causal: bool, seed: int, factor: int) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    because = f"scores are multiples of {factor}: probabilities are from 0 to 1, and nothing overflows"
    check((torch.sign(q) * factor, torch.sign(k), v, dout), because, exact=True, causal=causal, scale=1.0)


def test_sums_are_kept_in_fp32() -> None:
    arrays, scale = with_sums_beyond_fp16(peaked=False)
    because = "half way a sum is larger than any fp16, the other half is the same with another sign"
    check(arrays, because, exact=True, scale=scale, tiles={"BLOCK_M": 16, "BLOCK_N": 16})


@one_in(5)
@given(st.integers(2, 100), SEEDS, TILES, st.integers(0, 3))
@example(64, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, 1)
def test_what_no_query_of_a_block_sees_is_not_loaded(length: int, seed: int, tiles: dict[str, int], block: int) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    right = Attention((q, k, v), causal=True)
    expected, limits = right.gradients(dout)["dq"], right.gradient_limits(dout)["dq"]
    kept = right.kept()[1], right.delta(dout)[0].float()
    rows = (block + 1) * tiles["BLOCK_M"]
    later = -(-rows // tiles["BLOCK_N"]) * tiles["BLOCK_N"]
    k[:, :, later:] = v[:, :, later:] = math.nan
    call = host_call(gradient_of_q, q, k, v, dout, *kept, causal=True, tiles=tiles)
    because = f"the loop ends with the last key that the block sees: k and v are NaN from {later} on"
    call.compare(f"dq[:, :, :{rows}]", call()[:, :, :rows], expected[:, :, :rows], limits[:, :, :rows], because=because)


@one_in(2)
@given(st.integers(1, 80), CAUSAL, SEEDS, TILES)
@example(17, False, 0, {"BLOCK_M": 16, "BLOCK_N": 64})
@example(33, True, 0, {"BLOCK_M": 64, "BLOCK_N": 16})
def test_the_kernel_touches_nothing_else(length: int, causal: bool, seed: int, tiles: dict[str, int]) -> None:
    check_memory_of_gradients(dq_kernel, "BLOCK_M", ("dq",), length, causal, seed, tiles)


def test_fp32_is_not_cut_to_tf32() -> None:
    arrays = (*arguments((1, 1, 16, 16), 0, count=4), *[torch.zeros(1, 1, 16)] * 2, torch.zeros(1, 1, 16, 16))
    options = {"CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16, "D": 16}
    insist_on_fp32(kernel_call(dq_kernel, (1, 1), *arrays, 0.25, 16, **options))


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
