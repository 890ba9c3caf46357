"""Task 8.2: softmax of rows, in one block or online."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernels.softmax import online_softmax_kernel, softmax, softmax_kernel

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, is_array, kernel_call, triton_call
from tests.support.m08_kernels.tensors import ADDITIONS, FLOATS, LENGTHS, SEEDS, U, normal, padded, rounding

INF = math.inf
BLOCKS = (16, 64)
SCALES = (1.0, 30.0, 1e4)  # differences of 1e4 are far out of the range of exp
ROWS = st.integers(1, 5)


def expected_of(x: Any) -> Any:
    return torch.softmax(x.double(), 1)


def allowed(x: Any, expected: Any, block: int = 4096) -> Any:
    """Rounding `x - max` moves its power by U * |x - max|, as does each product within exp, of which there are no more
    than 2; exp2 of log2(e) * x - log2(e) * max rounds products of x and max instead. exp itself, the division and,
    online, each rescaling are right to 4 U; and there are the sums.
    """
    finite = torch.nan_to_num(x.double(), nan=0.0, posinf=0.0, neginf=0.0)
    highest = finite.amax(1, keepdim=True)
    steps = ADDITIONS + 8 + 8 * math.ceil(x.shape[1] / block)
    # the sum's error is an average of those of its terms, of which those far below the maximum do not count
    moved = 3 * (highest - finite) + finite.abs() + highest.abs()
    far = 4 * math.log(max(x.shape[1], 2)) + 2 * highest.abs()
    relative = U * (moved + far + steps)
    return torch.nan_to_num(expected) * relative + rounding(torch.nan_to_num(expected), dtype_of(x))


def dtype_of(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


def check(x: Any, block: int | None = None, because: str = "") -> None:
    options: dict[str, Any] = {} if block is None else {"block": block}
    expected = expected_of(x)
    call = host_call(softmax, x, **options)
    result = call()
    because = "; ".join(filter(None, [because, wrong_sum(result, expected)]))
    call.compare("the result", result, expected, allowed(x, expected, block or 4096), x.dtype, because)


def wrong_sum(result: Any, expected: Any) -> str:
    """Which row does not sum to 1, in words: the one that is furthest off."""
    if not is_array(result) or result.shape != expected.shape:
        return ""
    sums = result.double().sum(1)
    off = (sums - 1).abs().nan_to_num(0.0) * expected.isfinite().all(1)
    row = int(off.argmax())
    return f"row {row} of the result sums to {float(sums[row]):.3g}, not 1" if off[row] > 0.01 else ""


@given(ROWS, LENGTHS, SEEDS, st.sampled_from(SCALES), st.sampled_from(FLOATS))
@example(1, 1, 0, 1.0, "float32")
@example(3, 1000, 0, 30.0, "float32")
def test_rows_in_one_block(rows: int, columns: int, seed: int, scale: float, dtype: str) -> None:
    check(normal((rows, columns), seed, dtype, scale))


@given(ROWS, LENGTHS, SEEDS, st.sampled_from(SCALES), st.sampled_from(FLOATS), st.sampled_from(BLOCKS))
@example(1, 24, 77, 1.0, "float32", 16)  # the second block has the maximum, by far
@example(1, 17, 0, 1.0, "float32", 16)
@example(2, 5000, 0, 1.0, "float16", 64)
@example(1, 5000, 0, 1.0, "float32", None)
def test_rows_of_many_blocks(rows: int, columns: int, seed: int, scale: float, dtype: str, block: int | None) -> None:
    because = "rows longer than a block are read block by block"
    check(normal((rows, columns), seed, dtype, scale), block, because)


@given(
    st.lists(st.sampled_from([-INF, -3.0, 0.0, 2.5, INF, math.nan]), min_size=1, max_size=40), st.sampled_from([16, 64])
)
@example([-INF] * 20 + [1.0], 16)
@example([1.0] + [-INF] * 20, 16)
@example([-INF] * 40, 16)
def test_infinities_and_nan(row: list[float], block: int) -> None:
    x = torch.tensor([row, [1.0] * len(row)])
    check(x, block, because="-inf has no share, a row of nothing but -inf is NaN, and so is one with NaN or inf")


@given(LENGTHS, SEEDS, st.sampled_from([16, 4096]), st.integers(-64, 64) | st.sampled_from([-(2**15), 2**15]))
@example(20, 0, 16, -(2**15))
@example(20, 0, 4096, -(2**15))
def test_a_constant_cancels(columns: int, seed: int, block: int, constant: int) -> None:
    x = torch.round(normal((2, columns), seed, scale=8.0) * 64) / 64  # multiples of 1/64: adding an integer is exact
    moved = x + constant
    expected = expected_of(x)
    because = f"softmax(x + {constant}) is softmax(x): the maximum is subtracted, and these sums are exact"
    host_call(softmax, moved, block=block).gives(expected, allowed(moved, expected, block), because=because)


@given(LENGTHS, SEEDS, st.sampled_from([16, 4096]))
def test_rows_sum_to_1(columns: int, seed: int, block: int) -> None:
    x = normal((3, columns), seed, scale=5.0)
    call = host_call(softmax, x, block=block)
    call.compare("the sum of a row", call().double().sum(1), torch.ones(3), 64 * U + columns * U)


@given(st.integers(1, 40), SEEDS, st.integers(1, 9), st.sampled_from([False, True]))
def test_kernels_touch_nothing_else(columns: int, seed: int, gap: int, online: bool) -> None:
    x = normal((3, columns), seed)
    source, out = padded(x, gap, math.nan), torch.full((3, columns + gap + 1), -7.0)
    kernel, block = (online_softmax_kernel, 16) if online else (softmax_kernel, 64)
    call = kernel_call(kernel, (2,), out, source, columns + gap + 1, columns + gap, columns, BLOCK=block)
    call()
    expected = expected_of(x[:2])
    call.compare("out", out[:2, :columns], expected, allowed(x[:2], expected, block))
    call.compare("what is behind the rows of out", out[:2, columns:], torch.full((2, gap + 1), -7.0))
    call.compare("a row of which no program is", out[2], torch.full((columns + gap + 1,), -7.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_numpy_arrays(dtype: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(dtype)
    call = host_call(softmax, x)
    result = call()
    tensor = torch.from_numpy(x)
    expected = expected_of(tensor)
    name = "float32" if dtype is np.float64 else dtype_of(tensor)  # computed in fp32 all the same
    call.compare("the result", result, expected, allowed(tensor, expected) + rounding(expected, name), x.dtype)


@settings(max_examples=4)
@given(SEEDS)
def test_under_real_triton(device: str, seed: int) -> None:
    for shape, dtype, options in (
        ((2, 37), "float32", {}),
        ((2, 37), "float16", {"block": 16}),
        ((3, 130), "float32", {"block": 32}),
    ):
        x = normal(shape, seed, dtype, 5.0)
        x[1, :34] = -INF
        expected = expected_of(x)
        limit = allowed(x, expected, options.get("block", 4096))
        triton_call(device, softmax, x, **options).gives(expected, limit, x.dtype)
