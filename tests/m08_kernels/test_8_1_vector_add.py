"""Task 8.1: sums of two arrays, tile by tile."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.vector_add import NUMBERS, add, add_kernel

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.tensors import SEEDS, VIEWS, guarded

INF, NAN = float("inf"), float("nan")
SIZES = st.one_of(
    st.sampled_from([0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 2048, 3001]), st.integers(0, 3000)
)
DTYPES = st.sampled_from(NUMBERS)


def numbers(size: int, seed: int, dtype: str) -> Any:
    """Random numbers of a dtype: integers whose sums overflow, floats from tiny to huge."""
    kind, generator = getattr(torch, dtype), torch.Generator().manual_seed(seed)
    if not kind.is_floating_point:
        limits = torch.iinfo(kind)
        return torch.randint(limits.min, limits.max, (size,), generator=generator, dtype=kind)
    scale = 10.0 ** torch.randint(-4, 5, (size,), generator=generator)
    return (torch.randn(size, generator=generator, dtype=torch.float64) * scale).to(kind)


def expected_of(x: Any, y: Any) -> Any:
    """The true sum, rounded once or wrapped around. For narrow floats, rounding via fp64 equals one rounding."""
    if not x.dtype.is_floating_point:
        return x + y
    return (x.double() + y.double()).to(x.dtype)


def check(
    x: Any, y: Any, because: str = "a sum is rounded once, so each bit of it is determined", **options: Any
) -> None:
    host_call(add, x, y, **options).gives(expected_of(x, y), dtype=x.dtype, because=because)


@given(SIZES, SEEDS, DTYPES, st.sampled_from([16, 128, 1024]))
@example(1, 0, "float32", 1024)
@example(5000, 0, "float16", 1024)
@example(0, 0, "float32", 16)
@example(1, 0, "float32", 16)
@example(16, 0, "float32", 16)
@example(17, 0, "float32", 16)
def test_sums_of_every_dtype(size: int, seed: int, dtype: str, block: int) -> None:
    because = "a sum is rounded once, whatever the size of a tile is; where the last tile reaches past the end, it is "
    check(numbers(size, seed, dtype), numbers(size, seed + 1, dtype), f"{because}masked", block=block)


@given(st.lists(st.sampled_from([-INF, -1e38, -0.0, 2.5, 1e38, 3.4e38, INF, NAN]), min_size=2, max_size=20))
def test_infinities_and_nan(row: list[float]) -> None:
    x = torch.tensor(row)
    check(x, x.flip(0), "IEEE 754 defines these sums: inf - inf is NaN")


@given(st.integers(1, 100), SEEDS, DTYPES, st.integers(0, 7))
@example(20, 0, "float32", 2)
@example(48, 0, "int32", 1)
def test_a_program_writes_its_own_block_only(size: int, seed: int, dtype: str, programs: int) -> None:
    x, y = numbers(size + 40, seed, dtype), numbers(size + 40, seed + 1, dtype)
    out = guarded(torch.full((size,), -7, dtype=x.dtype), -7)
    call = kernel_call(add_kernel, (programs,), x, y, out[0], size, BLOCK=16)
    call()
    expected = expected_of(x, y)[:size]
    expected[programs * 16 :] = -7
    because = f"{programs} programs compute only the first {programs * 16} elements"
    call.compare_guarded("out", out, expected, because=because)


@pytest.mark.parametrize("view", VIEWS)
def test_any_shape_and_strides(view: str) -> None:
    x, y = (VIEWS[view](numbers(120, seed, "float32").reshape(10, 12)) for seed in (1, 2))
    check(x, y)
    check(x, y.contiguous(), "the other operand may have a different memory layout")


@one_in(25)
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
