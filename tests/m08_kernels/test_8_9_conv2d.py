"""Task 8.9: convolution, directly and as a matrix product that is never built."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernels.conv2d import conv2d, direct_kernel, implicit_gemm_kernel

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.precision import insist_on_fp32
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, guarded, normal, rounding

WAYS = pytest.mark.parametrize("direct", [True, False], ids=["direct", "implicit"])
SOME = one_in(4)  # many need a kernel that was not compiled yet
FILTERS = ((1, 1), (3, 3), (2, 3), (5, 1), (1, 4))
TILES = {True: {"BLOCK": 16}, False: {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}}
OTHER_TILES = {True: {"BLOCK": 64}, False: {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32}}

# How many images, channels of a group, filters of a group; by how much images are higher and wider than they must be.
sizes = st.tuples(*(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5)), *(st.integers(0, 9), st.integers(0, 9)))
steps = st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(1, 3))  # stride, padding, dilation


def operands(
    size: tuple[int, ...],
    filter: tuple[int, int],
    step: tuple[int, ...],
    groups: int,
    seed: int,
    dtype: str = "float32",
) -> tuple[Any, Any, dict[str, Any]]:
    """Images, filters that fit them, and the options of their convolution."""
    images, depth, each, higher, wider = size
    stride, padding, dilation = step
    height, width = (max(dilation * (taps - 1) + 1 - 2 * padding, 1) for taps in filter)
    x = normal((images, depth * groups, height + higher, width + wider), seed, dtype)
    w = normal((each * groups, depth, *filter), seed + 1, dtype)
    return x, w, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


def whole(x: Any) -> Any:
    """Whole numbers from -6 to 6 or so: sums of their products are exact."""
    return torch.round(x * 2)


def expected_of(x: Any, w: Any, options: dict[str, Any]) -> Any:
    return torch.nn.functional.conv2d(x.double(), w.double(), **options)


def allowed(x: Any, w: Any, options: dict[str, Any], expected: Any) -> Any:
    """Each product, and each sum after it, rounds what is there so far: by U of no more than the sum of all sizes.
    Tensor cores cut off instead, which is twice as much.
    """
    most = torch.nan_to_num(expected_of(abs(x), abs(w), options), nan=0.0, posinf=0.0)
    dtype = str(x.dtype).removeprefix("torch.")
    return most * (2 * U * (w[0].numel() + 1)) + rounding(torch.nan_to_num(expected), dtype)


def check(x: Any, w: Any, options: dict[str, Any], because: str = "", **chosen: Any) -> None:
    expected = expected_of(x, w, options)
    call = host_call(conv2d, x, w, **options, **chosen)
    call.gives(expected, allowed(x, w, options, expected), x.dtype, because)


@WAYS
@SOME
@given(sizes, st.sampled_from(FILTERS), steps, st.integers(1, 3), SEEDS)
@example((1, 1, 1, 0, 0), (1, 1), (1, 0, 1), 1, 0)
@example((2, 2, 3, 6, 3), (2, 3), (1, 0, 1), 1, 0)
@example((2, 3, 2, 4, 7), (5, 1), (2, 1, 1), 2, 0)
@example((1, 2, 2, 8, 5), (3, 3), (3, 2, 2), 3, 0)
@example((1, 1, 1, 2, 4), (1, 1), (1, 3, 1), 1, 0)
def test_every_window(
    direct: bool, size: tuple[int, ...], filter: tuple[int, int], step: tuple[int, ...], groups: int, seed: int
) -> None:
    check(*operands(size, filter, step, groups, seed), direct=direct, tiles=TILES[direct])


@WAYS
@SOME
@given(st.integers(1, 6), st.integers(1, 3), st.sampled_from(FILTERS), SEEDS)
def test_each_channel_alone(direct: bool, channels: int, each: int, filter: tuple[int, int], seed: int) -> None:
    x, w, options = operands((2, 1, each, 4, 6), filter, (1, 1, 1), channels, seed)
    check(x, w, options, f"each of {channels} groups has 1 channel and {each} filters", direct=direct)


@WAYS
@settings(max_examples=10)
@given(st.sampled_from(FLOATS), SEEDS)
@example("float16", 0)
@example("bfloat16", 0)
def test_dtypes(direct: bool, dtype: str, seed: int) -> None:
    x, w, options = operands((2, 3, 20, 12, 9), (3, 2), (1, 1, 2), 2, seed, dtype)
    check(x, w, options, direct=direct)


@WAYS
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_are_fp32(direct: bool, dtype: str) -> None:
    x, w, options = operands((1, 30, 4, 3, 2), (3, 3), (1, 1, 1), 1, 0, dtype)
    x, w = torch.cat([x * 300, x * -300], 1), torch.cat([w * 100, w * 100], 1)
    x[:, -1] += 1
    check(x, w, options, "sums of large products of both signs need the range and the precision of fp32", direct=direct)


@WAYS
@settings(max_examples=10)
@given(SEEDS)
def test_tiles_do_not_change_the_answer(direct: bool, seed: int) -> None:
    x, w, options = operands((3, 5, 19, 8, 11), (3, 2), (1, 1, 1), 2, seed)
    x, w = whole(x), whole(w)
    before = host_call(conv2d, x, w, **options, direct=direct)()
    for tiles in (TILES[direct], OTHER_TILES[direct]):
        call = host_call(conv2d, x, w, **options, direct=direct, tiles=tiles)
        call.gives(before, because="tiles only share out the work, and these sums are exact")


@WAYS
@SOME
@given(sizes, st.sampled_from(FILTERS), steps, SEEDS, st.integers(-3, 3))
def test_linear_in_the_images(
    direct: bool, size: tuple[int, ...], filter: tuple[int, int], step: tuple[int, ...], seed: int, factor: int
) -> None:
    x, w, options = operands(size, filter, step, 1, seed)
    x, w = whole(x), whole(w)
    other = x.flip(3)
    first, second = (host_call(conv2d, images, w, **options, direct=direct)() for images in (x, other))
    call = host_call(conv2d, x + factor * other, w, **options, direct=direct)
    call.gives(first + factor * second, because=f"conv2d(x + {factor} y) is conv2d(x) + {factor} conv2d(y), exactly")


@WAYS
@SOME
@given(
    sizes,
    *(st.sampled_from(FILTERS), steps, st.integers(1, 2), SEEDS),
    *(st.floats(0, 0.999), st.sampled_from([math.nan, math.inf, -math.inf])),
)
@example((2, 2, 2, 5, 5), (3, 3), (1, 1, 1), 1, 0, 0.4, math.nan)
def test_a_nan_is_in_the_windows_that_see_it(
    direct: bool,
    size: tuple[int, ...],
    filter: tuple[int, int],
    step: tuple[int, ...],
    groups: int,
    seed: int,
    place: float,
    value: float,
) -> None:
    x, w, options = operands(size, filter, step, groups, seed)
    x.view(-1)[int(place * x.numel())] = value
    check(x, w, options, f"one pixel is {value}, and no other window may notice", direct=direct, tiles=TILES[direct])


@WAYS
@SOME
@given(st.integers(1, 3), st.integers(1, 3), SEEDS, st.sampled_from(FILTERS))
def test_a_nan_in_a_filter_is_in_its_channel(
    direct: bool, each: int, groups: int, seed: int, filter: tuple[int, int]
) -> None:
    x, w, options = operands((2, 2, each, 3, 4), filter, (1, 0, 1), groups, seed)
    w[seed % len(w)].view(-1)[seed % w[0].numel()] = math.nan
    check(x, w, options, f"filter {seed % len(w)} has a NaN, and no other channel may notice", direct=direct)


def launch(out: Any, x: Any, w: Any, options: dict[str, Any], direct: bool, programs: int | None = None) -> kernel_call:
    """A launch of one of the kernels; only of so many `programs` along the axis of the grid that chooses channels."""
    images, filters, p_size, q_size = out.shape
    arrays = (out, x, w) if direct else (out, x, w, images)
    sizes = (*x.shape[1:], filters, p_size, q_size, *options.values())
    constants = {"R": w.shape[2], "S": w.shape[3], **TILES[direct]}
    if direct:
        planes = images * filters if programs is None else programs
        return kernel_call(direct_kernel, (planes, math.ceil(p_size * q_size / 16)), *arrays, *sizes, **constants)
    groups = options["groups"]
    grid = (math.ceil(images * p_size * q_size / 16), math.ceil(filters // groups / 16))
    groups = groups if programs is None else programs
    return kernel_call(implicit_gemm_kernel, (*grid, groups), *arrays, *sizes, **constants)


def test_fp32_is_not_cut_to_tf32() -> None:
    x, w, options = operands((1, 2, 3, 3, 3), (2, 2), (1, 0, 1), 1, 0)
    out = torch.zeros(expected_of(x, w, options).shape)
    insist_on_fp32(launch(out, x, w, options, direct=False))


@WAYS
@SOME
@given(sizes, st.sampled_from(FILTERS), steps, st.integers(1, 3), SEEDS)
@example((1, 1, 1, 4, 4), (3, 3), (1, 2, 1), 1, 0)
def test_kernels_touch_nothing_else(
    direct: bool, size: tuple[int, ...], filter: tuple[int, int], step: tuple[int, ...], groups: int, seed: int
) -> None:
    x, w, options = operands(size, filter, step, groups, seed)
    expected = expected_of(x, w, options)
    out, memory = guarded(torch.full(expected.shape, -7.0), -7.0)
    call = launch(out, guarded(x, math.nan)[0], guarded(w, math.nan)[0], options, direct)
    call()
    because = "x and w lie in memory that is full of NaN"
    call.compare("out", out, expected, allowed(x, w, options, expected), because=because)
    call.compare("what is around out in memory", memory, guarded(out, -7.0)[1])


@WAYS
@settings(max_examples=10)
@given(st.integers(1, 2), st.integers(2, 4), st.integers(1, 5), SEEDS)
@example(1, 2, 3, 0)
def test_programs_write_their_own_channels_only(direct: bool, images: int, groups: int, each: int, seed: int) -> None:
    x, w, options = operands((images, 2, each, 3, 4), (3, 2), (1, 1, 1), groups, seed)
    expected = expected_of(x, w, options)
    limit = allowed(x, w, options, expected)
    some = torch.zeros(expected.shape, dtype=torch.bool)
    programs = images * groups * each // 2 if direct else groups - 1
    if direct:
        some.flatten(0, 1)[:programs] = True
    else:
        some[:, : programs * each] = True
    out = torch.full(expected.shape, -7.0)
    call = launch(out, x, w, options, direct, programs)
    call()
    because = f"there are programs for the first {programs} {'channels' if direct else 'groups'} only; others keep a -7"
    call.compare("out", out, torch.where(some, expected, -7.0), limit * some, because=because)


@WAYS
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_numpy_arrays(direct: bool, dtype: Any) -> None:
    x, w, options = operands((2, 3, 2, 4, 6), (2, 3), (2, 1, 1), 2, 0, np.dtype(dtype).name)
    expected = expected_of(x, w, options)
    call = host_call(conv2d, x.numpy(), w.numpy(), **options, direct=direct)
    call.gives(expected, allowed(x, w, options, expected), np.dtype(dtype))


@WAYS
@settings(max_examples=2)
@given(SEEDS)
def test_under_real_triton(device: str, direct: bool, seed: int) -> None:
    for size, filter, step, groups, dtype in (
        ((2, 3, 2, 3, 4), (2, 3), (2, 1, 1), 2, "float32"),
        ((1, 4, 3, 5, 4), (1, 3), (1, 2, 2), 1, "float16"),
    ):
        x, w, options = operands(size, filter, step, groups, seed, dtype)
        expected = expected_of(x, w, options)
        call = triton_call(device, conv2d, x, w, **options, direct=direct, tiles=TILES[direct])
        call.gives(expected, allowed(x, w, options, expected), x.dtype)
