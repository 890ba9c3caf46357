"""Task 8.8: the gradients of attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernels.flash_attention import attention_backward, delta_kernel, dkdv_kernel, dq_kernel

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.attention import GRADIENTS, LENGTHS, SIZES, TILES, Attention, arguments
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.precision import insist_on_fp32
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, guarded, normal

HEADS = st.sampled_from([(1, 1), (2, 1), (1, 3), (2, 2)])  # batch, heads
LENGTH = st.one_of(st.sampled_from(LENGTHS), st.integers(1, 140))
SIZE = st.sampled_from(SIZES)
CAUSAL = st.booleans()


def compare(call: host_call, results: Any, right: Attention, dout: Any, because: str = "") -> None:
    """All three gradients are right. That of v comes first: the others need the same probabilities, and more."""
    dq, dk, dv = results
    expected, limits = right.gradients(dout), right.gradient_limits(dout)
    for name, got in (("dv", dv), ("dk", dk), ("dq", dq)):
        call.compare(name, got, expected[name], limits[name], call.arguments[0].dtype, because)


def check(
    arrays: Any, causal: bool, scale: float | None = None, exact: bool = False, because: str = "", **options: Any
) -> None:
    """The gradients of q, k and v, the first three of the arrays, from dout, the last; PyTorch gives the rest."""
    *inputs, dout = arrays
    right = Attention(inputs, causal, scale, exact)
    call = host_call(attention_backward, dout, *inputs, *right.kept(), causal=causal, scale=scale, **options)
    compare(call, call(), right, dout, because)


@settings(max_examples=60)
@given(HEADS, LENGTH, SIZE, CAUSAL, SEEDS, st.sampled_from(FLOATS))
@example((1, 1), 16, 16, False, 0, "float32")
@example((2, 2), 65, 16, False, 0, "float32")
@example((2, 2), 130, 64, True, 0, "float16")
def test_gradients(heads: tuple[int, int], length: int, size: int, causal: bool, seed: int, dtype: str) -> None:
    check(arguments((*heads, length, size), seed, dtype, 4), causal)


@pytest.mark.parametrize("size", [128, 256])
def test_large_heads(size: int) -> None:
    for dtype, causal in (("float32", False), ("float16", True)):
        check(arguments((1, 2, 40, size), 0, dtype, 4), causal)


@settings(max_examples=30)
@given(LENGTH, CAUSAL, SEEDS, st.sampled_from(TILES), st.sampled_from(["float32", "float16"]))
@example(65, True, 0, (16, 64), "float32")
@example(65, True, 0, (64, 16), "float32")
@example(128, True, 0, (32, 64), "float32")
def test_tiles_do_not_change_the_answer(
    length: int, causal: bool, seed: int, tile: tuple[int, int], dtype: str
) -> None:
    tiles = {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    check(arguments((1, 2, length, 16), seed, dtype, 4), causal, tiles=tiles)


@settings(max_examples=30)
@given(LENGTH, CAUSAL, SEEDS, st.sampled_from([1.0, 0.01, 3.0]))
@example(17, False, 0, 1.0)
def test_the_scale_is_taken(length: int, causal: bool, seed: int, scale: float) -> None:
    check(arguments((1, 2, length, 16), seed, count=4), causal, scale, because="dq and dk are scaled once more")


@settings(max_examples=50)
@given(LENGTH, CAUSAL, SEEDS, st.sampled_from([1, 64, 4096]))
def test_scores_far_apart(length: int, causal: bool, seed: int, factor: int) -> None:
    q, k, v, dout = arguments((1, 2, length, 16), seed, count=4)
    check(
        (torch.sign(q) * factor, torch.sign(k), v, dout), causal, scale=1.0, exact=True,
        because=f"scores are multiples of {factor}: probabilities are from 0 to 1, and nothing overflows",
    )  # fmt: skip


@pytest.mark.parametrize("peaked", [False, True])
def test_sums_are_kept_in_fp32(peaked: bool) -> None:
    ones = torch.ones(1, 1, 64, 16).half()
    signs = ones.clone()
    signs[:, :, 32:] = -1.0
    if peaked:  # every query looks at the first key: dv adds up all of dout
        k = torch.zeros_like(ones)
        k[:, :, 0] = 64.0
        arrays, scale = (ones, k, torch.zeros_like(ones), 3e4 * signs), 1.0
    else:  # all weights are equal: dq adds up ds * k, dk adds up ds * q
        arrays, scale = (128 * signs, 128 * ones, signs, 256 * ones), 2.0**-20
    check(
        arrays, False, scale, exact=True, tiles={"BLOCK_M": 16, "BLOCK_N": 16},
        because="half way a sum is larger than any fp16, the other half is the same with another sign",
    )  # fmt: skip


@settings(max_examples=50)
@given(st.integers(2, 140), CAUSAL, SEEDS)
def test_what_gradients_add_up_to(length: int, causal: bool, seed: int) -> None:
    *inputs, dout = arguments((1, 2, length, 16), seed, count=4)
    right = Attention(inputs, causal)
    call = host_call(attention_backward, dout, *inputs, *right.kept(), causal=causal)
    _, dk, dv = (result.double().sum(2) for result in call())
    limits = {name: limit.sum(2) for name, limit in right.gradient_limits(dout).items()}
    because = "the result is the same if all keys move alike, for then all scores of a query do"
    call.compare("the sum of dk", dk, torch.zeros_like(dk), limits["dk"], because=because)
    because = "the weights of a query have the sum 1, so the gradients of all values have the sum of all of dout"
    call.compare("the sum of dv", dv, dout.double().sum(2), limits["dv"], because=because)


@settings(max_examples=50)
@given(st.integers(1, 100), SEEDS, st.sampled_from(TILES), st.data())
def test_causal_results_have_no_gradient_of_the_future(
    length: int, seed: int, tile: tuple[int, int], data: st.DataObject
) -> None:
    now = data.draw(st.integers(0, length - 1), label="the one query whose result matters")
    *inputs, dout = arguments((1, 2, length, 16), seed, count=4)
    dout[:, :, :now] = 0
    dout[:, :, now + 1 :] = 0
    right = Attention(inputs, causal=True)
    tiles = {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    call = host_call(attention_backward, dout, *inputs, *right.kept(), causal=True, tiles=tiles)
    dq, dk, dv = call()
    compare(call, (dq, dk, dv), right, dout)
    for name, got in (("dk", dk), ("dv", dv)):
        later = got[:, :, now + 1 :]
        because = f"dout is 0 but for query {now}, which sees no key after {now}"
        call.compare(f"{name}[:, :, {now + 1}:]", later, torch.zeros_like(later), because=because)


@settings(max_examples=20)
@given(st.integers(2, 100), SEEDS, st.sampled_from(TILES), st.integers(0, 3))
@example(64, 0, (16, 16), 1)
def test_what_a_block_has_nothing_to_do_with_is_not_loaded(
    length: int, seed: int, tile: tuple[int, int], block: int
) -> None:
    tiles = {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    *inputs, dout = arguments((1, 2, length, 16), seed, count=4)
    right = Attention(inputs, causal=True)
    before = host_call(attention_backward, dout, *inputs, *right.kept(), causal=True, tiles=tiles)()
    q, k, v = (x.clone() for x in inputs)
    rows = (block + 1) * tile[0]
    later = -(-rows // tile[1]) * tile[1]
    k[:, :, later:] = v[:, :, later:] = math.nan
    call = host_call(attention_backward, dout, *inputs[:1], k, v, *right.kept(), causal=True, tiles=tiles)
    because = f"the loop ends with the last key that the block sees: k and v are NaN from {later} on"
    call.compare(f"dq[:, :, :{rows}]", call()[0][:, :, :rows], before[0][:, :, :rows], because=because)
    first = block * tile[1]
    earlier = first // tile[0] * tile[0]
    q[:, :, :earlier] = math.nan
    call = host_call(attention_backward, dout, q, *inputs[1:], *right.kept(), causal=True, tiles=tiles)
    because = f"the loop begins with the first block of queries that sees these keys: q is NaN before {earlier}"
    for name, got, old in zip(("dk", "dv"), call()[1:], before[1:], strict=True):
        call.compare(f"{name}[:, :, {first}:]", got[:, :, first:], old[:, :, first:], because=because)


def test_finite_differences() -> None:
    *inputs, dout = arguments((1, 2, 21, 16), 0, count=4)
    directions = [normal((1, 2, 21, 16), seed).double() for seed in (7, 8, 9)]
    right = Attention(inputs, causal=True)

    def slope(step: float) -> Any:
        further, nearer = (
            Attention([x.double() + sign * step * way for x, way in zip(inputs, directions, strict=True)], True).out
            for sign in (1, -1)
        )
        return ((further - nearer) * dout.double()).sum() / (2 * step)

    call = host_call(attention_backward, dout, *inputs, *right.kept(), causal=True)
    got = sum((result.double() * way).sum() for result, way in zip(call(), directions, strict=True))
    limits = right.gradient_limits(dout)
    limit = sum((limits[name] * way.abs()).sum() for name, way in zip(GRADIENTS, directions, strict=True))
    # Twice the step has four times the error.
    call.compare("the slope in a direction", got, slope(1e-4), limit + (slope(2e-4) - slope(1e-4)).abs())


@settings(max_examples=50)
@given(st.integers(1, 80), SIZE, SEEDS, st.sampled_from([16, 64]), st.sampled_from(FLOATS))
@example(17, 16, 0, 16, "float32")
def test_delta(length: int, size: int, seed: int, block: int, dtype: str) -> None:
    out, dout = arguments((1, 3, length, size), seed, dtype, 2)
    sources = [guarded(x, math.nan)[0] for x in (out, dout)]
    result, whole = guarded(torch.zeros(1, 3, length), -7.0)
    call = kernel_call(delta_kernel, (-(-length // block), 3), *sources, result, length, BLOCK_M=block, D=size)
    call()
    products = out.double() * dout.double()
    limit = (size + 1) * U * products.abs().sum(3)
    call.compare("delta", result, products.sum(3), limit, because="it is computed in fp32, NaN is around the rest")
    call.compare("what is around delta", whole, guarded(result, -7.0)[1])


@settings(max_examples=50)
@given(st.integers(1, 80), CAUSAL, SEEDS, st.sampled_from(TILES))
@example(17, False, 0, (16, 64))
@example(33, True, 0, (64, 16))
def test_the_kernels_touch_nothing_else(length: int, causal: bool, seed: int, tile: tuple[int, int]) -> None:
    *inputs, dout = arguments((1, 3, length, 16), seed, count=4)
    right = Attention(inputs, causal)
    expected, limits = right.gradients(dout), right.gradient_limits(dout)
    kept = (*inputs, dout, right.kept()[1], right.delta(dout)[0].float())
    sources = [guarded(x, math.nan)[0] for x in kept]
    results = {name: guarded(torch.zeros(1, 3, length, 16), -7.0) for name in GRADIENTS}
    options = {"CAUSAL": causal, "BLOCK_M": tile[0], "BLOCK_N": tile[1], "D": 16}
    for kernel, block, names in ((dkdv_kernel, tile[1], ("dk", "dv")), (dq_kernel, tile[0], ("dq",))):
        pointers = [results[name][0] for name in names]
        call = kernel_call(kernel, (-(-length // block), 3), *sources, *pointers, 0.25, length, **options)
        call()
        for name in names:
            inner, whole = results[name]
            call.compare(name, inner, expected[name], limits[name], because="NaN is around all that is given")
            call.compare(f"what is around {name}", whole, guarded(inner, -7.0)[1])


@pytest.mark.parametrize("kernel, results", [(dkdv_kernel, 2), (dq_kernel, 1)])
def test_fp32_is_not_cut_to_tf32(kernel: Any, results: int) -> None:
    arrays = arguments((1, 1, 16, 16), 0, count=4)
    rows = [torch.zeros(1, 1, 16)] * 2
    pointers = [torch.zeros(1, 1, 16, 16) for _ in range(results)]
    options = {"CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16, "D": 16}
    insist_on_fp32(kernel_call(kernel, (1, 1), *arrays, *rows, *pointers, 0.25, 16, **options))


def test_nothing_to_do() -> None:
    for shape in ((0, 2, 5, 16), (2, 0, 5, 16), (1, 2, 0, 16)):
        q, k, v, dout = arguments(shape, 0, count=4)
        call = host_call(attention_backward, dout, q, k, v, q, torch.empty(shape[:3]))
        for name, got in zip(GRADIENTS, call(), strict=True):
            call.compare(name, got, torch.empty(shape))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_numpy_arrays(dtype: Any) -> None:
    *inputs, dout = arguments((2, 1, 70, 16), 0, np.dtype(dtype).name, 4)
    right = Attention(inputs, causal=True)
    arrays = [x.numpy() for x in (dout, *inputs, *right.kept())]
    call = host_call(attention_backward, *arrays, causal=True)
    compare(call, call(), right, dout)


def test_under_real_triton(device: str) -> None:
    cases: list[tuple[str, bool, int, dict[str, int]]] = [
        ("float32", True, 37, {"BLOCK_M": 16, "BLOCK_N": 32}),
        ("float16", True, 37, {"BLOCK_M": 32, "BLOCK_N": 16}),
        ("float16", False, 65, {}),
    ]
    if device == "cuda":  # its interpreter rounds no bf16
        cases += [("bfloat16", True, 130, {}), ("float16", True, 1000, {})]
    for dtype, causal, length, tiles in cases:
        *inputs, dout = arguments((1, 2, length, 16), 0, dtype, 4)
        right = Attention(inputs, causal)
        call = triton_call(device, attention_backward, dout, *inputs, *right.kept(), causal=causal, tiles=tiles)
        compare(call, call(), right, dout)
