"""Convolutions by PyTorch in fp64, how far a kernel may be off, and the tests that tasks 8.14 and 8.15 share.

The fixture `direct` says which kernel is tested: `direct_kernel`, or `implicit_gemm_kernel`.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, dtype_of, guarded, normal, rounding

SOME = one_in(4)  # few, because many need another compiled kernel
TILES = {True: {"BLOCK": 16}, False: {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}}
OTHER_TILES = {True: {"BLOCK": 64}, False: {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32}}
Operands = tuple[Any, Any, dict[str, Any]]


class Case(NamedTuple):
    """The sizes of images and filters, and the options of a convolution."""

    size: tuple[int, ...]  # images; channels and filters of a group; rows and columns beyond the minimum
    filter: tuple[int, ...]
    step: tuple[int, ...] = (1, 1, 1)  # stride, padding, dilation
    groups: int = 1
    seed: int = 0
    dtype: str = "float32"

    def operands(self) -> Operands:
        """Images, filters that fit them, and the options of their convolution."""
        images, depth, each, higher, wider = self.size
        stride, padding, dilation = self.step
        height, width = (max(dilation * (taps - 1) + 1 - 2 * padding, 1) for taps in self.filter)
        x = normal((images, depth * self.groups, height + higher, width + wider), self.seed, self.dtype)
        w = normal((each * self.groups, depth, *self.filter), self.seed + 1, self.dtype)
        return x, w, {"stride": stride, "padding": padding, "dilation": dilation, "groups": self.groups}


CASES = st.builds(
    Case,
    st.tuples(*(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5)), *(st.integers(0, 9), st.integers(0, 9))),
    st.sampled_from([(1, 1), (3, 3), (2, 3), (5, 1), (1, 4)]),
    st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(1, 3)),
    st.integers(1, 3),
    SEEDS,
    st.just("float32"),
)
EXAMPLES = (
    Case((1, 1, 1, 0, 0), (1, 1)),
    Case((2, 2, 3, 6, 3), (2, 3)),
    Case((2, 3, 2, 4, 7), (5, 1), (2, 1, 1), 2),
    Case((1, 2, 2, 8, 5), (3, 3), (3, 2, 2), 3),
    Case((1, 1, 1, 2, 4), (1, 1), (1, 3, 1)),
    Case((2, 1, 2, 4, 6), (3, 3), (1, 1, 1), 6),
)
REAL = (Case((2, 3, 2, 3, 4), (2, 3), (2, 1, 1), 2), Case((1, 4, 3, 5, 4), (1, 3), (1, 2, 2), dtype="float16"))


def some_cases(test: Any) -> Any:
    """Draw a few cases, because many need another compiled kernel. Begin with simple cases."""
    for case in reversed(EXAMPLES):
        test = example(case)(test)
    return SOME(given(CASES)(test))


def expected_of(x: Any, w: Any, options: dict[str, Any]) -> Any:
    return torch.nn.functional.conv2d(x.double(), w.double(), **options)


def allowed(x: Any, w: Any, options: dict[str, Any], expected: Any) -> Any:
    """The limit of the error. Each product and each addition rounds by at most U of the sum of all magnitudes.

    Tensor cores truncate instead of rounding, which doubles the error.
    """
    most = torch.nan_to_num(expected_of(abs(x), abs(w), options), nan=0.0, posinf=0.0)
    return most * (2 * U * (w[0].numel() + 1)) + rounding(torch.nan_to_num(expected), dtype_of(x))


def check(
    direct: bool, operands: Operands, because: str = "", tiles: dict[str, int] | None = None, ask: Any = host_call
) -> None:
    """Require that the host function returns PyTorch's result."""
    from kernels.conv2d import conv2d

    x, w, options = operands
    expected = expected_of(x, w, options)
    call = ask(conv2d, x, w, **options, direct=direct, tiles=tiles)
    call.gives(expected, allowed(x, w, options, expected), x.dtype, because)


@some_cases
def test_every_window(direct: bool, case: Case) -> None:
    check(direct, case.operands(), tiles=TILES[direct])


@one_in(10)
@given(st.sampled_from(FLOATS), SEEDS)
@example("float16", 0)
@example("bfloat16", 0)
def test_tiles_do_not_change_the_answer(direct: bool, dtype: str, seed: int) -> None:
    """Sums of products of small whole numbers are exact."""
    x, w, options = Case((3, 5, 19, 8, 11), (3, 2), (1, 1, 1), 2, seed, dtype).operands()
    for tiles in (None, TILES[direct], OTHER_TILES[direct]):
        check(direct, (torch.round(x), torch.round(w), options), "tiles only distribute the work", tiles)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_are_fp32(direct: bool, dtype: str) -> None:
    x, w, options = Case((1, 30, 4, 3, 2), (3, 3), dtype=dtype).operands()
    x, w = torch.cat([x * 300, x * -300], 1), torch.cat([w * 100, w * 100], 1)
    x[:, -1] += 1
    because = "sums of large products of both signs need the range and the precision of fp32"
    check(direct, (x, w, options), because)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@some_cases
def test_a_nan_is_where_it_is_seen(direct: bool, value: float, case: Case) -> None:
    x, w, options = case.operands()
    x.view(-1)[case.seed % x.numel()] = value
    check(
        direct,
        (x, w, options),
        f"one pixel is {value}, which must reach only the windows that contain it",
        TILES[direct],
    )
    x, w, options = case.operands()
    w[case.seed % len(w)].view(-1)[case.seed % w[0].numel()] = value
    because = f"filter {case.seed % len(w)} has a {value}, which must not reach another channel"
    check(direct, (x, w, options), because, TILES[direct])


@pytest.mark.parametrize("share", [0.5, 1.0])
@some_cases
def test_programs_write_their_own_channels_only(direct: bool, share: float, case: Case) -> None:
    """Require that the programs of the first channels or groups write only their own elements."""
    x, w, options = case.operands()
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
    because = (
        f"the memory around x and w is NaN; the first {programs} {'channels' if direct else 'groups'} have programs"
    )
    call.compare_guarded("out", out, torch.where(some, expected, -7.0), limit * some, because)


@pytest.mark.parametrize("case", REAL)
def test_under_real_triton(direct: bool, device: str, case: Case) -> None:
    check(direct, case.operands(), tiles=TILES[direct], ask=partial(triton_call, device))


def launch(out: Any, x: Any, w: Any, options: dict[str, Any], direct: bool, programs: int | None = None) -> kernel_call:
    """A launch of one of the kernels. `programs` limits the programs along the grid's axis of channels or groups."""
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
