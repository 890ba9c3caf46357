"""Task 8.7: attention, a block of keys at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernels.flash_attention import attention, forward_kernel, tiles_for

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.attention import LENGTHS, SIZES, TILES, Attention, arguments
from tests.support.m08_kernels.host_calls import as_numpy, host_call, is_array, kernel_call, triton_call
from tests.support.m08_kernels.precision import insist_on_fp32
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, UNIT, guarded

HEADS = st.sampled_from([(1, 1), (2, 1), (1, 3), (2, 2)])  # batch, heads
LENGTH = st.one_of(st.sampled_from(LENGTHS), st.integers(1, 140))
SIZE = st.sampled_from(SIZES)
CAUSAL = st.booleans()


def compare(call: host_call, results: Any, right: Attention, because: str = "", of_scores: str = "") -> None:
    """Both results are right. The logarithm comes first: it is wrong where the scores or the sums are."""
    out, logsumexp = results
    single = np.dtype(np.float32) if isinstance(out, np.ndarray) else torch.float32
    of_result = "logsumexp is right, and so are the scores and `total`"
    for name, got, expected, dtype, reason in (
        ("logsumexp", logsumexp, right.logsumexp, single, of_scores),
        ("out", out, right.out, call.arguments[0].dtype, of_result),
    ):
        limit = right.limits[name]
        reasons = [because, reason, one_head(got, expected, limit)]
        call.compare(name, got, expected, limit, dtype, "; ".join(filter(None, reasons)))


def one_head(got: Any, expected: Any, limit: Any) -> str:
    """Whether the first head is right, and hardly anything of the others, in words."""
    if not is_array(got) or tuple(got.shape) != tuple(expected.shape):
        return ""
    near = abs(as_numpy(got) - as_numpy(expected)) <= as_numpy(limit)
    first, *others = near.reshape(-1, *near.shape[2:])
    return "only head [0, 0] is right" if first.all() and others and np.mean(others) < 0.5 else ""


def about_scores(q: Any, block: int) -> str:
    """What beginners get wrong in the scores of such queries, for blocks of so many keys."""
    length, dtype = q.shape[2], str(q.dtype).removeprefix("torch.")
    if dtype != "float32":
        return f"scores are scaled in fp32: a scaled q would be rounded to {dtype} once more"
    return f"the block has {block} keys, the sequence {length}: the others have no share" if length < block else ""


def check(
    arrays: Any, causal: bool, scale: float | None = None, exact: bool = False, because: str = "", **options: Any
) -> None:
    call = host_call(attention, *arrays, causal=causal, scale=scale, **options)
    block = (tiles_for(arrays[0]) | options.get("tiles", {}))["BLOCK_N"]
    compare(call, call(), Attention(arrays, causal, scale, exact), because, about_scores(arrays[0], block))


@given(HEADS, LENGTH, SIZE, CAUSAL, SEEDS, st.sampled_from(FLOATS))
@example((1, 1), 16, 16, False, 0, "float32")
@example((2, 2), 65, 16, False, 0, "float32")
@example((2, 2), 130, 64, True, 0, "float16")
def test_attention(heads: tuple[int, int], length: int, size: int, causal: bool, seed: int, dtype: str) -> None:
    check(arguments((*heads, length, size), seed, dtype), causal)


@pytest.mark.parametrize("size", [128, 256])
def test_large_heads(size: int) -> None:
    for dtype, causal in (("float32", False), ("float16", True)):
        check(arguments((1, 2, 40, size), 0, dtype), causal)


@settings(max_examples=50)
@given(LENGTH, CAUSAL, SEEDS, st.sampled_from(TILES), st.sampled_from(["float32", "float16"]))
@example(65, True, 0, (16, 64), "float32")
@example(65, True, 0, (64, 16), "float32")
@example(128, True, 0, (32, 64), "float32")
def test_tiles_do_not_change_the_answer(
    length: int, causal: bool, seed: int, tile: tuple[int, int], dtype: str
) -> None:
    tiles = {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    check(arguments((1, 2, length, 16), seed, dtype), causal, tiles=tiles)


@settings(max_examples=30)
@given(LENGTH, CAUSAL, SEEDS, st.sampled_from([1.0, 0.01, 3.0]))
@example(17, False, 0, 1.0)
def test_the_scale_is_taken(length: int, causal: bool, seed: int, scale: float) -> None:
    check(arguments((1, 2, length, 16), seed), causal, scale)


@given(SIZE, CAUSAL, SEEDS, st.sampled_from(FLOATS))
def test_the_result_for_one_key_is_its_value(size: int, causal: bool, seed: int, dtype: str) -> None:
    q, k, v = arguments((2, 3, 1, size), seed, dtype)
    call = host_call(attention, q, k, v, causal=causal)
    call.compare("out", call()[0], v, 2 * UNIT[dtype] * v.double().abs(), because="its share is all")


@given(LENGTH, CAUSAL, SEEDS, st.sampled_from(FLOATS))
def test_scores_that_are_equal_give_the_average(length: int, causal: bool, seed: int, dtype: str) -> None:
    q, k, v = arguments((1, 2, length, 16), seed, dtype)
    check(
        (torch.zeros_like(q), k, v), causal,
        because="all scores are 0: each weight is 1 over the number of keys that the query sees, logsumexp is its log2",
    )  # fmt: skip


@settings(max_examples=50)
@given(st.integers(1, 140), SEEDS, st.sampled_from([*TILES, (64, 64)]), st.data())
def test_causal_results_do_not_depend_on_the_future(
    length: int, seed: int, tile: tuple[int, int], data: st.DataObject
) -> None:
    now = data.draw(st.integers(0, length), label="queries from here on may change")
    tiles = {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    q, k, v = arguments((1, 2, length, 16), seed)
    before = host_call(attention, q, k, v, causal=True, tiles=tiles)()
    for x in (q, k, v):
        x[:, :, now:] = -3 * x[:, :, now:] + 1e3
    call = host_call(attention, q, k, v, causal=True, tiles=tiles)
    for name, got, old in zip(("out", "logsumexp"), call(), before, strict=True):
        because = f"q, k and v are as before there; what comes at {now} or later has no share at all"
        call.compare(f"{name}[:, :, :{now}]", got[:, :, :now], old[:, :, :now], because=because)


@settings(max_examples=20)
@given(st.integers(2, 140), SEEDS, st.sampled_from(TILES), st.integers(0, 4))
@example(64, 0, (16, 16), 0)
def test_what_no_query_of_a_block_sees_is_not_loaded(length: int, seed: int, tile: tuple[int, int], block: int) -> None:
    tiles = {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    q, k, v = arguments((1, 2, length, 16), seed)
    before = host_call(attention, q, k, v, causal=True, tiles=tiles)()
    rows = (block + 1) * tile[0]  # of these blocks of queries
    later = -(-rows // tile[1]) * tile[1]  # keys of whole blocks behind the last one of them
    k[:, :, later:] = v[:, :, later:] = math.nan
    call = host_call(attention, q, k, v, causal=True, tiles=tiles)
    for name, got, old in zip(("out", "logsumexp"), call(), before, strict=True):
        because = f"the loop ends with the last key that the block sees: k and v are NaN from {later} on"
        call.compare(f"{name}[:, :, :{rows}]", got[:, :, :rows], old[:, :, :rows], because=because)


@given(LENGTH, CAUSAL, SEEDS, st.sampled_from([1, 64, 4096]), st.sampled_from(FLOATS))
@example(17, True, 0, 4096, "float16")
def test_scores_far_apart(length: int, causal: bool, seed: int, factor: int, dtype: str) -> None:
    q, k, v = arguments((1, 2, length, 16), seed, dtype)
    check(
        (torch.sign(q) * factor, torch.sign(k), v), causal, scale=1.0, exact=True,
        because=f"scores are multiples of {factor}, of which the largest has it all, in fp32 without overflow",
    )  # fmt: skip


@given(LENGTH, CAUSAL, SEEDS, st.sampled_from([-1e4, -300.0, 300.0, 1e4]))
@example(17, False, 0, -1e4)
def test_scores_that_are_all_far_from_0(length: int, causal: bool, seed: int, constant: float) -> None:
    q, k, v = arguments((1, 2, length, 16), seed)
    q[..., 0], k[..., 0] = 1.0, constant
    check((q, k, v), causal, because=f"each score has {constant / 4} more than the other elements give it")


@settings(max_examples=30)
@given(LENGTH, SEEDS)
def test_the_order_of_keys_does_not_matter(length: int, seed: int) -> None:
    q, k, v = arguments((1, 2, length, 16), seed)
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed))
    call = host_call(attention, q, k[:, :, order].contiguous(), v[:, :, order].contiguous())
    compare(call, call(), Attention((q, k, v)), because="keys and values were permuted alike")


@settings(max_examples=50)
@given(st.integers(1, 80), CAUSAL, SEEDS, st.sampled_from(TILES))
@example(17, False, 0, (16, 64))
@example(33, True, 0, (64, 16))
def test_the_kernel_touches_nothing_else(length: int, causal: bool, seed: int, tile: tuple[int, int]) -> None:
    arrays = arguments((1, 3, length, 16), seed)
    inputs = [guarded(x, math.nan)[0] for x in arrays]
    results = [guarded(torch.zeros(shape), -7.0) for shape in ((1, 3, length, 16), (1, 3, length))]
    pointers = [inner for inner, _ in results]
    sizes = {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "D": 16}
    grid = (-(-length // tile[0]), 3)
    call = kernel_call(forward_kernel, grid, *inputs, *pointers, 0.25, length, CAUSAL=causal, **sizes)
    call()
    compare(call, pointers, Attention(arrays, causal), because="NaN is around q, k and v")
    for name, (inner, whole) in zip(("out", "logsumexp"), results, strict=True):
        call.compare(f"what is around {name}", whole, guarded(inner, -7.0)[1])


def test_fp32_is_not_cut_to_tf32() -> None:
    arrays = arguments((1, 1, 16, 16), 0)
    results = (torch.zeros(1, 1, 16, 16), torch.zeros(1, 1, 16))
    options = {"CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16, "D": 16}
    insist_on_fp32(kernel_call(forward_kernel, (1, 1), *arrays, *results, 0.25, 16, **options))


def test_nothing_to_do() -> None:
    for shape in ((0, 2, 5, 16), (2, 0, 5, 16), (1, 2, 0, 16)):
        call = host_call(attention, *arguments(shape, 0))
        for name, got, size in zip(("out", "logsumexp"), call(), (shape, shape[:3]), strict=True):
            call.compare(name, got, torch.empty(size))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_numpy_arrays(dtype: Any) -> None:
    arrays = arguments((2, 1, 70, 16), 0, np.dtype(dtype).name)
    call = host_call(attention, *(x.numpy() for x in arrays), causal=True)
    compare(call, call(), Attention(arrays, causal=True))


def test_under_real_triton(device: str) -> None:
    cases: list[tuple[str, bool, int, dict[str, int]]] = [
        ("float32", True, 37, {"BLOCK_M": 16, "BLOCK_N": 32}),
        ("float16", True, 37, {"BLOCK_M": 32, "BLOCK_N": 16}),
        ("float16", False, 65, {}),
    ]
    if device == "cuda":  # its interpreter rounds no bf16
        cases += [("bfloat16", True, 130, {}), ("float16", True, 1000, {})]
    for dtype, causal, length, tiles in cases:
        arrays = arguments((1, 2, length, 16), 0, dtype)
        call = triton_call(device, attention, *arrays, causal=causal, tiles=tiles)
        compare(call, call(), Attention(arrays, causal))
