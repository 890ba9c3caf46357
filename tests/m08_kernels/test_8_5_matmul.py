"""Task 8.5: the product of two matrices, tile by tile."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.matmul import ACTIVATIONS, DTYPES, matmul, matmul_kernel

from tests.checks import one_in
from tests.oracles import pytorch as torch
from tests.support.m08_kernels.host_calls import host_call, kernel_call, triton_call
from tests.support.m08_kernels.order import order_of_tiles
from tests.support.m08_kernels.tensors import FLOATS, SEEDS, U, dtype_of, normal, rounding

INF, NAN = float("inf"), float("nan")
SIZES = st.one_of(st.sampled_from([1, 2, 16, 17, 31, 63, 64, 65, 129]), st.integers(1, 140))
DEPTHS = st.one_of(st.sampled_from([0, 1, 16, 31, 32, 33, 64, 65, 300]), st.integers(0, 140))
TILES = st.fixed_dictionaries(
    {
        "BLOCK_M": st.sampled_from([16, 32]),
        "BLOCK_N": st.sampled_from([16, 64]),
        "BLOCK_K": st.sampled_from([32, 64]),
        "GROUP": st.sampled_from([1, 2, 3, 8]),
    }
)
SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 32}


def integers(shape: tuple[int, int], seed: int, dtype: str, largest: int) -> Any:
    """A matrix of integers from `-largest` to `largest`."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-largest, largest + 1, shape, generator=generator).to(getattr(torch, dtype))


def activated(c: Any, activation: str) -> Any:
    """An activation, in fp64."""
    if activation == "relu":
        return c.clamp(min=0)
    return torch.where(c < 0, c * 0.01, c) if activation == "leaky_relu" else c


def expected_of(a: Any, b: Any, activation: str = "") -> Any:
    """The product in fp64. For int8, sums are exact in fp64, and the result is int32."""
    c = activated(a.double() @ b.double(), activation)
    return c.int() if a.dtype == torch.int8 else c


def allowed(a: Any, b: Any, expected: Any) -> Any:
    """The limit of the error. Each product is rounded once, and then at most once for each product that is added.

    The order of the additions does not matter. Tensor cores truncate instead of rounding, which doubles the error. An
    activation may multiply by 0.01, which is another rounded operation.
    """
    finite = [torch.nan_to_num(x.double(), nan=0.0, posinf=0.0, neginf=0.0).abs() for x in (a, b)]
    expected = torch.nan_to_num(expected)
    return 2 * U * (a.shape[1] + 1) * (finite[0] @ finite[1]) + 3 * U * expected.abs() + rounding(expected, dtype_of(a))


def check(a: Any, b: Any, activation: str = "", because: str = "", **options: Any) -> None:
    expected = expected_of(a, b, activation)
    if activation:
        options["activation"] = activation
    host_call(matmul, a, b, **options).gives(expected, allowed(a, b, expected), a.dtype, because)


def check_exactly(a: Any, b: Any, because: str, **options: Any) -> None:
    expected = expected_of(a, b)
    dtype = torch.int32 if a.dtype == torch.int8 else a.dtype
    host_call(matmul, a, b, **options).gives(expected.to(dtype), 0.0, dtype, because)


@given(SIZES, SIZES, DEPTHS, SEEDS, st.sampled_from(FLOATS), st.sampled_from(ACTIVATIONS))
@example(1, 1, 1, 0, "float32", "")
@example(150, 70, 300, 0, "float16", "")
@example(5, 3, 0, 0, "float32", "leaky_relu")
@one_in(4)
def test_products_and_activations(m: int, n: int, k: int, seed: int, dtype: str, activation: str) -> None:
    check(normal((m, k), seed, dtype), normal((k, n), seed + 1, dtype), activation)


@given(SIZES, SIZES, DEPTHS, SEEDS)
@example(1, 1, 1101, 0)  # a sum that fp32 cannot represent exactly
@one_in(7)
def test_int8(m: int, n: int, k: int, seed: int) -> None:
    a, b = integers((m, k), seed, "int8", 127), integers((k, n), seed + 1, "int8", 127)
    a[0], b[:, 0] = 127, 127  # the sum of their products is as large as possible
    check_exactly(a, b, "sums of int8 products are exact, in int32")


@given(SIZES, SIZES, DEPTHS, SEEDS, st.sampled_from(DTYPES), TILES)
@example(97, 150, 70, 0, "float32", {"BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_K": 32, "GROUP": 3})
@example(40, 30, 33, 0, "float16", {"BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_K": 64, "GROUP": 1})
@one_in(3)
def test_any_tiles(m: int, n: int, k: int, seed: int, dtype: str, tiles: dict[str, int]) -> None:
    a, b = integers((m, k), seed, dtype, 9), integers((k, n), seed + 1, dtype, 9)
    check_exactly(a, b, "sums of such integers are exact for any tiles", tiles=tiles)


@given(st.integers(1, 20), st.integers(33, 160), SEEDS, st.sampled_from(FLOATS))
@example(4, 160, 0, "float16")
@one_in(5)
def test_sums_are_fp32(m: int, k: int, seed: int, dtype: str) -> None:
    # After half of K, sums are about 60 * 60 * k: narrow floats lack the digits, and fp16 also lacks the range. The
    # second half cancels most of each sum. Products and sums are integers below 2**24, so fp32 is exact.
    large, small = integers((m, k), seed, dtype, 8) + 55, integers((m, k), seed + 1, dtype, 1)
    a = torch.cat([large, small - large], 1)
    column = integers((k, 3), seed + 2, dtype, 8) + 55
    b = torch.cat([column, column])
    because = "sums have the dtype TOTAL, fp32, until the end of K; these sums are exact in fp32"
    check_exactly(a, b, because, tiles={**SMALL, "GROUP": 1})


def test_activations_come_before_rounding() -> None:
    a, b = torch.full((3, 40), -100.0, dtype=torch.float16), torch.full((40, 5), 100.0, dtype=torch.float16)
    check(a, b, "leaky_relu", "fp16 cannot represent the sum, -400000, but it can represent the result, -4000")


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 19), st.integers(0, 19), st.sampled_from([INF, -INF, NAN])),
        min_size=1,
        max_size=3,
    ),
    SEEDS,
    st.sampled_from([20, 33]),
)
@one_in(7)
def test_infinities_and_nan(places: list[tuple[str, int, int, float]], seed: int, k: int) -> None:
    operands = {"a": normal((20, k), seed), "b": normal((k, 20), seed + 1)}
    for name, i, j, value in places:
        operands[name][i, j] = value
    because = "an infinity or NaN in a reaches only one row of c, and one in b reaches only one column"
    check(operands["a"], operands["b"], because=because)


def test_fp32_is_not_cut_to_tf32() -> None:
    a, b, c = normal((16, 40), 0), normal((40, 16), 1), torch.zeros((16, 16))
    launch(a, b, c, (16, 16, 40), GROUP=1).insist_on_fp32()


LAYOUTS: dict[str, Any] = {
    "row after row": lambda x: x.contiguous(),
    "column after column": lambda x: x.T.contiguous().T,
    "every second element of every third row": lambda x: spread(x, 3, 2),
    "every third element of every second column": lambda x: spread(x.T, 2, 3).T,
}


def spread(x: Any, rows: int, columns: int) -> Any:
    """The same matrix, surrounded by NaN in memory."""
    wide = x.new_full((x.shape[0] * rows, x.shape[1] * columns), NAN)
    wide[::rows, ::columns] = x
    return wide[::rows, ::columns]


@pytest.mark.parametrize("layout_a", LAYOUTS)
@pytest.mark.parametrize("layout_b", LAYOUTS)
def test_any_strides(layout_a: str, layout_b: str) -> None:
    # square, so that swapped strides do not lead out of bounds
    a, b = LAYOUTS[layout_a](normal((40, 40), 0)), LAYOUTS[layout_b](normal((40, 40), 1))
    check(a, b, because=f"in memory, a is {layout_a}, and b is {layout_b}")
    a, b = LAYOUTS[layout_a](normal((70, 33), 0)), LAYOUTS[layout_b](normal((33, 66), 1))
    check(a, b, because=f"in memory, a is {layout_a}, and b is {layout_b}")


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 70), SEEDS, st.integers(1, 3), st.booleans())
@example(17, 17, 33, 0, 1, False)
@example(17, 17, 33, 0, 2, True)
@one_in(5)
def test_programs_write_their_own_tiles_only(m: int, n: int, k: int, seed: int, group: int, across: bool) -> None:
    def surrounded(x: Any, filler: float) -> Any:
        """The same matrix in the corner of a larger one, possibly in column-major order."""
        wide = x.new_full((x.shape[0] + 20, x.shape[1] + 30), filler)
        wide[: x.shape[0], : x.shape[1]] = x
        return wide.T.contiguous().T if across else wide

    a, b = normal((m, k), seed), normal((k, n), seed + 1)
    right = expected_of(a, b)
    limit = allowed(a, b, right)
    order = order_of_tiles(-(-m // 16), -(-n // 16), group)
    for programs in range(1, len(order) + 1):
        c = surrounded(torch.full((m, n), -7.0), -7.0)
        call = launch(surrounded(a, NAN), surrounded(b, NAN), c, (m, n, k), programs, GROUP=group)
        call()
        expected, far = c.new_full(c.shape, -7.0).double(), c.new_zeros(c.shape).double()
        for row, column in order[:programs]:
            tile = slice(row * 16, min(row * 16 + 16, m)), slice(column * 16, min(column * 16 + 16, n))
            expected[tile], far[tile] = right[tile], limit[tile]
        because = f"c held -7, the memory around a and b is NaN, and {programs} programs have tiles {order[:programs]}"
        call.compare("c", c, expected, far, because=because)


def launch(
    a: Any, b: Any, c: Any, sizes: tuple[int, int, int], programs: int | None = None, **options: Any
) -> kernel_call:
    """The launch of the kernel on tiles of 16 by 16, with all programs or only the first few."""
    count = -(-sizes[0] // 16) * -(-sizes[1] // 16) if programs is None else programs
    strides = (*a.stride(), *b.stride(), *c.stride())
    options = SMALL | {"ACTIVATION": "", "TOTAL": float32()} | options
    return kernel_call(matmul_kernel, (count,), a, b, c, *sizes, *strides, **options)


def float32() -> Any:
    import mini_triton.language as tl

    return tl.float32


@one_in(50)
@given(SEEDS)
def test_under_real_triton(device: str, seed: int) -> None:
    for (m, n, k), dtype, activation in (
        ((33, 20, 40), "float32", "leaky_relu"),
        ((20, 33, 70), "float16", "relu"),
        ((17, 40, 33), "int8", ""),
    ):
        if dtype == "int8":
            a, b = integers((m, k), seed, dtype, 127), integers((n, k), seed + 1, dtype, 127).T
        else:
            a, b = normal((m, k), seed, dtype), normal((n, k), seed + 1, dtype).T
        expected = expected_of(a, b, activation)
        limit = 0.0 if dtype == "int8" else allowed(a, b, expected)
        options: dict[str, Any] = {"activation": activation, "tiles": {**SMALL, "GROUP": 2}}
        triton_call(device, matmul, a, b, **options).gives(expected, limit)
