"""Task 8.1: sums of two arrays, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernels.vector_add import NUMBERS, add, add_kernel

from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import Words, host_call, kernel_call, triton_call
from tests.support.m08_kernels.tensors import SEEDS

INF, NAN = float("inf"), float("nan")
BLOCKS = (16, 128, 1024)
SIZES = st.one_of(
    st.sampled_from([0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 2048, 3001]), st.integers(0, 3000)
)
DTYPES = st.sampled_from(NUMBERS)


def numbers(size: int, seed: int, dtype: str) -> Any:
    """Any numbers of a dtype: integers whose sums overflow, floats from tiny to huge."""
    kind, generator = getattr(torch, dtype), torch.Generator().manual_seed(seed)
    if not kind.is_floating_point:
        limits = torch.iinfo(kind)
        return torch.randint(limits.min, limits.max, (size,), generator=generator, dtype=kind)
    scale = 10.0 ** torch.randint(-4, 5, (size,), generator=generator)
    return (torch.randn(size, generator=generator, dtype=torch.float64) * scale).to(kind)


def expected_of(x: Any, y: Any) -> Any:
    """One rounding of the true sum, or integers that wrap around. That of narrow floats in fp64 rounds as if once."""
    if not x.dtype.is_floating_point:
        return x + y
    return (x.double() + y.double()).to(x.dtype)


def check(x: Any, y: Any, because: str = "a sum is rounded once: it is right to the last bit", **options: Any) -> None:
    host_call(add, x, y, **options).gives(expected_of(x, y), dtype=x.dtype, because=because)


@given(SIZES, SEEDS, DTYPES)
@example(1, 0, "float32")
@example(5000, 0, "float16")
def test_sums_of_every_dtype(size: int, seed: int, dtype: str) -> None:
    check(numbers(size, seed, dtype), numbers(size, seed + 1, dtype))


@given(SIZES, SEEDS, st.sampled_from(BLOCKS))
@example(0, 0, 16)
@example(1, 0, 16)
@example(16, 0, 16)
@example(17, 0, 16)
def test_any_block_size(size: int, seed: int, block: int) -> None:
    because = "the size of a block does not change the sum; where the last one reaches past the end, it is masked"
    check(numbers(size, seed, "float32"), numbers(size, seed + 1, "float32"), because, block=block)


@given(st.lists(st.sampled_from([-INF, -1e38, -0.0, 2.5, 1e38, 3.4e38, INF, NAN]), min_size=2, max_size=20))
def test_infinities_and_nan(row: list[float]) -> None:
    x = torch.tensor(row)
    check(x, x.flip(0), "IEEE 754 says what these sums are: inf - inf is NaN")


@given(st.integers(1, 100), SEEDS, st.sampled_from(NUMBERS), st.integers(1, 40))
def test_kernels_touch_nothing_else(size: int, seed: int, dtype: str, gap: int) -> None:
    kind = getattr(torch, dtype)
    x, y = numbers(size + gap, seed, dtype), numbers(size + gap, seed + 1, dtype)
    out = torch.full((size + gap,), 77, dtype=kind)
    call = kernel_call(add_kernel, (-(-size // 16),), x, y, out, size, BLOCK=16)
    call()
    call.compare(f"out[:{size}]", out[:size], expected_of(x, y)[:size])
    because = f"elements from {size} on are not the result's"
    call.compare(f"out[{size}:]", out[size:], torch.full((gap,), 77, dtype=kind), because=because)


@given(st.integers(2, 100), SEEDS, st.integers(0, 6))
@example(48, 0, 1)
@settings(max_examples=30)
def test_a_program_has_its_own_block(size: int, seed: int, programs: int) -> None:
    x, y = numbers(size, seed, "int32"), numbers(size, seed + 1, "int32")
    out = torch.full((size,), 77, dtype=torch.int32)
    call = kernel_call(add_kernel, (programs,), x, y, out, size, BLOCK=16)
    call()
    expected = expected_of(x, y)
    expected[programs * 16 :] = 77
    because = f"{programs} programs have the elements before {programs * 16}, and leave the others to programs after"
    call.compare("out", out, expected, because=because)


VIEWS: dict[str, Any] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "every other row": lambda x: x[::2],
    "every third column": lambda x: x[:, ::3],
    "from the second column on": lambda x: x[:, 1:],
    "three axes": lambda x: x.reshape(5, 2, 12),
    "no element": lambda x: x[:, :0],
    "no axis": lambda x: x[3, 4],
}


@pytest.mark.parametrize("view", VIEWS)
def test_any_shape_and_strides(view: str) -> None:
    x, y = (VIEWS[view](numbers(120, seed, "float32").reshape(10, 12)) for seed in (1, 2))
    check(x, y)
    # the other operand may lie in memory in another way
    check(x, y.contiguous())


@pytest.mark.parametrize("dtype", [name for name in NUMBERS if name != "bfloat16"])
def test_numpy_arrays(dtype: str) -> None:
    x, y = (numbers(120, seed, dtype).reshape(10, 12) for seed in (1, 2))
    expected = expected_of(x, y).numpy()
    host_call(add, x.numpy(), y.numpy()).gives(expected, dtype=expected.dtype)
    call = host_call(add, x.numpy()[::-1, ::2], y.numpy()[::-1, ::2])
    result = call()
    if not isinstance(result, np.ndarray):
        call.fail("a NumPy array, as the arguments are", Words(type(result).__name__))
    call.compare("the result", result, expected[::-1, ::2])


@settings(max_examples=4)
@given(SEEDS)
def test_under_real_triton(device: str, seed: int) -> None:
    for size, dtype, block in (
        (37, "float32", 16),
        (1025, "float16", 1024),
        (16, "float64", 16),
        (50, "int8", 32),
        (130, "int64", 64),
        (1, "int32", 16),
    ):
        x, y = numbers(size, seed, dtype), numbers(size, seed + 1, dtype)
        triton_call(device, add, x, y, block=block).gives(expected_of(x, y), dtype=x.dtype)
