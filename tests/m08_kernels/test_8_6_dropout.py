"""Task 8.6: dropout, whose random numbers are those of `tl.rand`."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.dropout import dropout, dropout_kernel

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.philox import rand
from tests.support.m08_kernels.tensors import FLOATS, VIEWS, U, dtype_of, guarded, normal, rounding

INF, NAN = float("inf"), float("nan")
SIZES = st.one_of(st.sampled_from([0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 3001]), st.integers(0, 3000))
SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.999, 1.0])
SEEDS = st.one_of(st.sampled_from([0, 1, 2, -1, 2**31, 2**40 + 5]), st.integers(-(2**63), 2**63 - 1))
ON_A_GPU = (0.13389549, 0.72070062, 0.34458476, 0.23751315)  # `tl.rand(123, i)` for i from 0 to 3


def expected_of(x: Any, p: float, seed: int) -> Any:
    """The result in fp64, for p rounded to fp32 as in a kernel."""
    numbers = torch.from_numpy(rand(seed, np.arange(x.numel()))).reshape(x.shape)
    share = np.float32(p)
    kept = numbers >= float(share)
    scale = 1.0 - float(share)
    return torch.where(kept, x.double() / (scale or 1.0), 0.0)


def allowed(expected: Any, dtype: str) -> Any:
    """The limit of the error: it allows a quotient by a rounded 1 - p, or a product with a rounded 1 / (1 - p)."""
    expected = torch.nan_to_num(expected, nan=0.0, posinf=0.0, neginf=0.0)
    return 8 * U * expected.abs() + rounding(expected, dtype.replace("float64", "float32"))  # fp64 is computed in fp32


def check(x: Any, p: float, seed: int, because: str = "", **options: Any) -> Any:
    expected = expected_of(x, p, seed)
    limit = allowed(expected, dtype_of(x))
    return host_call(dropout, x, p, seed, **options).gives(expected, limit, x.dtype, because)


@given(SIZES, SHARES, SEEDS, st.sampled_from([*FLOATS, "float64"]), st.sampled_from([16, 128, 1024]))
@example(1, 0.5, 1, "float32", 1024)
@example(100, 0.5, 3, "float32", 16)
@example(3001, 0.5, 16, "float32", 1024)
def test_dropped_and_kept_elements(size: int, p: float, seed: int, dtype: str, block: int) -> None:
    because = (
        f"element i is kept if tl.rand({seed}, i) >= {p}, whichever tile it is in, and is divided by the fraction of "
    )
    check(normal((size,), size, dtype), p, seed, f"{because}elements that are kept", block=block)


@pytest.mark.parametrize("i", range(len(ON_A_GPU)))
def test_random_numbers_are_a_gpus(i: int) -> None:
    number = float(rand(123, np.arange(4))[i])
    for p, kept in ((number, True), (ON_A_GPU[i] - 1e-6, True), (ON_A_GPU[i] + 1e-6, False)):
        call = host_call(dropout, torch.ones(4), p, 123)
        result = call()[i : i + 1]
        because = f"tl.rand(123, {i}) is {ON_A_GPU[i]} on a GPU, and an element is kept if its number is at least p"
        call.compare(f"whether element {i} is kept", result != 0, torch.tensor([kept]), because=because)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e30, INF, -INF, NAN])
def test_dropped_elements_are_0(value: float) -> None:
    check(torch.full((40,), value), 0.5, 7, "a dropped element becomes 0, even if it was an infinity or NaN")
    check(torch.full((40,), value), 1.0, 7, "with p = 1 all elements are dropped: avoid 0 / 0")


@given(st.integers(1, 100), SEEDS, st.sampled_from(FLOATS))
@one_in(2)
def test_the_kernel_touches_nothing_else(size: int, seed: int, dtype: str) -> None:
    x, out = normal((size,), 0, dtype), guarded(normal((size,), 2, dtype), -7)
    call = kernel_call(dropout_kernel, (-(-size // 16),), out[0], guarded(x, NAN)[0], size, 0.5, seed, BLOCK=16)
    call()
    expected = expected_of(x, 0.5, seed)
    call.compare_guarded("out", out, expected, allowed(expected, dtype), "the memory around x is NaN")


@pytest.mark.parametrize("view", VIEWS)
def test_any_shape_and_strides(view: str) -> None:
    x = VIEWS[view](normal((10, 12), 0))
    check(x, 0.3, 11, "elements are numbered row by row, whatever their memory layout")


@one_in(33)
@given(st.integers(0, 2**31 - 1))
def test_under_real_triton(device: str, seed: int) -> None:
    for size, p, dtype, block in (
        (100, 0.5, "float32", 64),
        (1030, 0.1, "float16", 1024),
        (16, 0.9, "float32", 16),
    ):
        x = normal((size,), seed, dtype)
        expected = expected_of(x, p, seed)
        triton_call(device, dropout, x, p, seed, block=block).gives(expected, allowed(expected, dtype), x.dtype)
