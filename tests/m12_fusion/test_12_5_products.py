"""Task 12.5: matrix products whose operands are functions of an index, fused with the operators after them."""

from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.fusion import products

from tests.checks import one_in
from tests.support.m12_fusion.compiling import (
    FUSED,
    fused,
    graph_program,
    insist_that_triton_compiles,
    normal,
    odd,
    program,
)

SIZES = st.one_of(st.sampled_from([1, 2, 15, 16, 17, 33, 64, 65, 130]), st.integers(1, 70))


def test_one_product(device: str) -> None:
    call = program("x @ y", x=normal(16, 32), y=normal(32, 16, seed=1), options=FUSED, device=device)
    call.computes_what_eager_does().launches(1, "a product is one kernel")


@one_in(4)
@given(SIZES, SIZES, SIZES)
def test_sizes(m: int, n: int, k: int) -> None:
    call = fused("x @ y", x=normal(m, k), y=normal(k, n, seed=1))
    call.computes_what_eager_does(f"({m}, {k}) @ ({k}, {n}): tiles have 0 beyond the end of a matrix").launches(1, "")


def test_batches() -> None:
    fused("torch.bmm(x, y)", x=normal(3, 20, 17), y=normal(3, 17, 9, seed=1)).computes_what_eager_does().launches(1, "")
    fused("x @ y", x=normal(2, 3, 5, 17), y=normal(17, 9, seed=1)).computes_what_eager_does()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_sixteen_bits(dtype: torch.dtype) -> None:
    call = fused("x @ y", x=normal(20, 200, dtype=dtype), y=normal(200, 9, dtype=dtype, seed=1))
    call.computes_what_eager_does("sums are kept in fp32, and rounded once")


@pytest.mark.parametrize("precision", ["ieee", "tf32"])
def test_the_precision(precision: str) -> None:
    with mock.patch.object(products, "precision_of", lambda _: precision):
        call = fused("x @ y", x=normal(5, 7), y=normal(7, 5)).computes_what_eager_does()
    (kernel,) = call.programs[0].kernels
    if precision not in kernel.text:
        because = f'precision_of returns "{precision}", as set by torch.set_float32_matmul_precision on a GPU'
        call.fail(f'a tl.dot with input_precision="{precision}"', kernel.text, because)


def test_nan_and_infinity_stay_in_their_rows() -> None:
    fused("x @ y", x=odd(5, 7), y=normal(7, 5)).computes_what_eager_does(
        "only the rows of x that contain NaN become rows of NaN"
    )
    fused("x @ y", x=normal(5, 7), y=odd(7, 5)).computes_what_eager_does()


# --- operands are not copied

OPERANDS = {
    "x.t() @ y.t()": "transposed",
    "x.reshape(20, 17) @ y.t()": "reshaped",
    "x[1:16, :5].t() @ y.reshape(-1)[:150].reshape(15, 10)": "slices",
    "x[::3].t() @ y.reshape(-1)[:36].reshape(6, 6)": "every third row",
    "x[:1].expand(10, 20) @ y[1:21, 2:3].expand(20, 10)": "expanded",
    "x.unsqueeze(0).transpose(1, 2) @ y.t().unsqueeze(0)": "with a batch of one",
}


@pytest.mark.parametrize("text", OPERANDS)
def test_views_are_not_copied(text: str) -> None:
    inputs = {"x": normal(17, 20), "y": normal(30, 17, seed=1)}
    call = fused(text, **inputs).computes_what_eager_does(f"operands are {OPERANDS[text]}")
    call.launches(
        1, f"operands are {OPERANDS[text]}: the product reads them at different indices, and nothing is copied"
    )


COMPUTED = {
    "torch.full_like(x, 0.1) @ torch.full_like(x, 3)": "the sum has as many terms as K is long",
    "x @ torch.full_like(x, torch.inf)": "0 times infinity is NaN, which must not be part of a sum",
    "torch.full_like(x, torch.inf) @ x": "infinity times 0 is NaN, which must not be part of a sum",
    "x[:1].expand_as(x) @ torch.full_like(x, 2)": "all rows of the first operand are the same",
    "torch.full_like(x, 2) @ x[:, :1].expand_as(x)": "all columns of the second operand are the same",
}


@pytest.mark.parametrize("text", COMPUTED)
def test_operands_are_computed_in_the_product(text: str) -> None:
    for size in (17, 64):
        for dtype in (torch.float32, torch.float16):
            x, suspect = normal(size, size, dtype=dtype).abs(), products.ProductWriter.tile_text
            call = graph_program(text, options=FUSED, suspect=suspect, x=x).computes_what_eager_does(COMPUTED[text])
            call.launches(1, "nothing is stored before the product")


# --- operators fused into a product

EPILOGUES = {
    "F.linear(x, w, b)": "the bias",
    "torch.relu(F.linear(x, w, b))": "bias and activation",
    "F.gelu(x @ w.t()) * y + 1": "a different tensor of the result's shape",
    "(x @ w.t()).t() * 2": "operators on the transposed product",
    "(x @ w.t()).reshape(3, 5, 9).sin()": "operators on the reshaped product",
    "[(a := x @ w.t()), (a, a * 2)][-1]": "the product itself is also stored",
}


@pytest.mark.parametrize("text", EPILOGUES)
def test_one_kernel(text: str) -> None:
    call = fused(text, x=normal(15, 20), w=normal(9, 20, seed=1), b=normal(9), y=normal(15, 9, seed=2))
    call.computes_what_eager_does().launches(
        1, f"{EPILOGUES[text]}: the tile is already computed, and the loops are the same"
    )


def test_products_of_products() -> None:
    call = fused("torch.relu(x @ y) @ z", x=normal(20, 17), y=normal(17, 33, seed=1), z=normal(33, 5, seed=2))
    call.computes_what_eager_does().launches(2, "the second product reads each element of the first more than once")


def test_gradients(device: str) -> None:
    inputs = {"x": normal(15, 20), "w": normal(9, 20, seed=1), "b": normal(9)}
    program(
        "torch.tanh(F.linear(x, w, b))", **inputs, gradient=True, options=FUSED, device=device
    ).computes_what_eager_does()


def test_symbolic_sizes() -> None:
    inputs = {"x": normal(15, 20), "w": normal(9, 20, seed=1), "b": normal(9)}
    program("torch.relu(F.linear(x, w, b))", **inputs, dynamic=True, options=FUSED).computes_what_eager_does()


def test_real_triton_compiles_the_kernels() -> None:
    for dtype in (torch.float32, torch.float16):
        inputs = {
            "x": normal(33, 20, dtype=dtype),
            "w": normal(17, 20, dtype=dtype, seed=1),
            "b": normal(17, dtype=dtype),
        }
        insist_that_triton_compiles(fused("torch.relu(F.linear(x, w, b))", **inputs).computes_what_eager_does())
