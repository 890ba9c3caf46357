"""Convolutions by PyTorch in fp64, how far a kernel may be off, and what is asked of both kernels.

`direct` says which: `direct_kernel`, or `implicit_gemm_kernel`.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call
from tests.support.m08_kernels.tensors import U, dtype_of, guarded, normal, rounding

SOME = one_in(4)  # many need a kernel that was not compiled yet
FEW = one_in(10)
FILTERS = st.sampled_from([(1, 1), (3, 3), (2, 3), (5, 1), (1, 4)])
TILES = {True: {"BLOCK": 16}, False: {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}}
OTHER_TILES = {True: {"BLOCK": 64}, False: {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32}}

# How many images, channels of a group, filters of a group; by how much images are higher and wider than they must be.
SIZES = st.tuples(*(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5)), *(st.integers(0, 9), st.integers(0, 9)))
STEPS = st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(1, 3))  # stride, padding, dilation
GROUPS = st.integers(1, 3)
Case = tuple[Any, Any, dict[str, Any]]


def operands(
    size: tuple[int, ...],
    filter: tuple[int, ...],
    step: tuple[int, ...],
    groups: int,
    seed: int,
    dtype: str = "float32",
) -> Case:
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
    return most * (2 * U * (w[0].numel() + 1)) + rounding(torch.nan_to_num(expected), dtype_of(x))


def check(x: Any, w: Any, options: dict[str, Any], because: str = "", **chosen: Any) -> None:
    """The host function gives what PyTorch does. `chosen` are its options `direct` and `tiles`."""
    from kernels.conv2d import conv2d

    expected = expected_of(x, w, options)
    call = host_call(conv2d, x, w, **options, **chosen)
    call.gives(expected, allowed(x, w, options, expected), x.dtype, because)


def check_fp32_sums(direct: bool, dtype: str) -> None:
    x, w, options = operands((1, 30, 4, 3, 2), (3, 3), (1, 1, 1), 1, 0, dtype)
    x, w = torch.cat([x * 300, x * -300], 1), torch.cat([w * 100, w * 100], 1)
    x[:, -1] += 1
    check(x, w, options, "sums of large products of both signs need the range and the precision of fp32", direct=direct)


def check_tiles(direct: bool, seed: int) -> None:
    """Other tiles give the same, bit by bit: sums of products of small whole numbers are exact."""
    x, w, options = operands((3, 5, 19, 8, 11), (3, 2), (1, 1, 1), 2, seed)
    x, w = torch.round(x * 2), torch.round(w * 2)
    because = "tiles only share out the work, and these sums are exact"
    for tiles in (None, TILES[direct], OTHER_TILES[direct]):
        check(x, w, options, because, direct=direct, tiles=tiles)


def check_nan_in_image(direct: bool, case: Case, place: float, value: float) -> None:
    x, w, options = case
    x.view(-1)[int(place * x.numel())] = value
    check(x, w, options, f"one pixel is {value}, and no other window may notice", direct=direct, tiles=TILES[direct])


def check_nan_in_filter(direct: bool, case: Case, seed: int) -> None:
    x, w, options = case
    w[seed % len(w)].view(-1)[seed % w[0].numel()] = math.nan
    check(x, w, options, f"filter {seed % len(w)} has a NaN, and no other channel may notice", direct=direct)


def check_memory(direct: bool, case: Case, share: float) -> None:
    """The programs of the first channels (or groups) write these, and touch nothing else."""
    x, w, options = case
    expected = expected_of(x, w, options)
    limit = allowed(x, w, options, expected)
    out = guarded(torch.full(expected.shape, -7.0), -7.0)
    groups, filters = options["groups"], len(w)
    programs = math.ceil(share * (len(x) * filters if direct else groups))
    some = torch.zeros(expected.shape, dtype=torch.bool)
    if direct:
        some.flatten(0, 1)[:programs] = True
    else:
        some[:, : programs * filters // groups] = True
    call = launch(out[0], guarded(x, math.nan)[0], guarded(w, math.nan)[0], options, direct, programs)
    call()
    because = f"NaN is around x and w; the first {programs} {'channels' if direct else 'groups'} have programs"
    call.compare_guarded("out", out, torch.where(some, expected, -7.0), limit * some, because)


def launch(out: Any, x: Any, w: Any, options: dict[str, Any], direct: bool, programs: int | None = None) -> kernel_call:
    """A launch of one of the kernels; only of so many `programs` along the axis of the grid that chooses channels."""
    from kernels.conv2d import direct_kernel, implicit_gemm_kernel

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
