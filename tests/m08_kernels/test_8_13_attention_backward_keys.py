"""Task 8.13: the gradients of attention's keys and values, and all three together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.flash_attention import attention_backward, dkdv_kernel, gradients_of_kv

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.attention import (
    GRADIENTS,
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
from tests.support.m08_kernels.tensors import FLOATS, SEEDS

CAUSAL = st.booleans()


def check(arrays: Any, because: str = "", exact: bool = False, **options: Any) -> None:
    check_gradients(gradients_of_kv, ("dk", "dv"), arrays, because, exact, **options)


@one_in(2)
@given(HEADS, LENGTHS, SIZES, CAUSAL, SEEDS, st.sampled_from(FLOATS))
@example((1, 1), 16, 16, False, 0, "float32")
@example((2, 2), 65, 16, False, 0, "float32")
@example((2, 2), 130, 64, True, 0, "float16")
@example((1, 2), 40, 256, True, 0, "float16")
def test_dk_and_dv(heads: tuple[int, int], length: int, size: int, causal: bool, seed: int, dtype: str) -> None:
    check(arguments((*heads, length, size), seed, dtype, 4), causal=causal)


@one_in(3)
@given(LENGTHS, CAUSAL, SEEDS, TILES, st.sampled_from(["float32", "float16"]), st.sampled_from([None, 1.0, 0.01, 3.0]))
@example(17, False, 0, {"BLOCK_M": 16, "BLOCK_N": 16}, "float32", 1.0)
@example(65, True, 0, {"BLOCK_M": 16, "BLOCK_N": 64}, "float32", None)
@example(65, True, 0, {"BLOCK_M": 64, "BLOCK_N": 16}, "float32", None)
@example(128, True, 0, {"BLOCK_M": 64, "BLOCK_N": 32}, "float32", None)
def test_tiles_and_scales(
    length: int, causal: bool, seed: int, tiles: dict[str, int], dtype: str, scale: float | None
) -> None:
    arrays = arguments((1, 2, length, 16), seed, dtype, 4)
    check(arrays, "dk is scaled, once, dv is not", causal=causal, scale=scale, tiles=tiles)


@one_in(3)
@given(LENGTHS, CAUSAL, SEEDS, st.sampled_from([1, 64, 4096]))
def test_scores_far_apart(length: int, causal: bool, seed: int, factor: int) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    because = f"scores are multiples of {factor}: probabilities are from 0 to 1, and nothing overflows"
    check((torch.sign(q) * factor, torch.sign(k), v, dout), because, exact=True, causal=causal, scale=1.0)


@pytest.mark.parametrize("peaked", [False, True])
def test_sums_are_kept_in_fp32(peaked: bool) -> None:
    arrays, scale = with_sums_beyond_fp16(peaked)
    because = "half way a sum is larger than any fp16, the other half is the same with another sign"
    check(arrays, because, exact=True, scale=scale, tiles={"BLOCK_M": 16, "BLOCK_N": 16})


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
    because = f"the loop begins with the first block of queries that sees these keys: q is NaN before {earlier}"
    for name, got in zip(("dk", "dv"), call(), strict=True):
        near = expected[name][:, :, first:], limits[name][:, :, first:]
        call.compare(f"{name}[:, :, {first}:]", got[:, :, first:], *near, because=because)


@one_in(2)
@given(st.integers(1, 80), CAUSAL, SEEDS, TILES)
@example(17, False, 0, {"BLOCK_M": 16, "BLOCK_N": 64})
@example(33, True, 0, {"BLOCK_M": 64, "BLOCK_N": 16})
def test_the_kernel_touches_nothing_else(length: int, causal: bool, seed: int, tiles: dict[str, int]) -> None:
    check_memory_of_gradients(dkdv_kernel, "BLOCK_N", ("dk", "dv"), length, causal, seed, tiles)


def test_fp32_is_not_cut_to_tf32() -> None:
    arrays = (*arguments((1, 1, 16, 16), 0, count=4), *[torch.zeros(1, 1, 16)] * 2, *[torch.zeros(1, 1, 16, 16)] * 2)
    options = {"CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16, "D": 16}
    insist_on_fp32(kernel_call(dkdv_kernel, (1, 1), *arrays, 0.25, 16, **options))


def test_under_real_triton(device: str) -> None:
    cases = [("float32", True, 37, {"BLOCK_M": 16, "BLOCK_N": 32}), ("float16", False, 65, {})]
    if device == "cuda":  # its interpreter rounds no bf16
        cases += [("bfloat16", True, 130, {}), ("float16", True, 1000, {})]
    for dtype, causal, length, tiles in cases:
        *inputs, dout = arguments((1, 2, length, 16), 0, dtype, 4)
        right = Attention(inputs, causal)
        call = triton_call(device, attention_backward, dout, *inputs, *right.kept(), causal=causal, tiles=tiles)
        compare_gradients(call, dict(zip(GRADIENTS, call(), strict=True)), right, dout)
