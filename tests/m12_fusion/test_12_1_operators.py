"""Task 12.1: elementwise operators, each in a kernel of its own."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m12_fusion.compiling import UNFUSED, normal, odd, program, unfused, whole

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int8, torch.uint8, torch.bool)


def test_one_operator(device: str) -> None:
    call = program("x + y", x=normal(5, 7), y=normal(5, 7, seed=1), options=UNFUSED, device=device)
    call.computes_what_eager_does().launches(1, "there is one operator")


def test_each_operator_is_a_kernel(device: str) -> None:
    call = program("torch.exp(x * y) + x", x=normal(5, 7), y=normal(5, 7, seed=1), options=UNFUSED, device=device)
    call.computes_what_eager_does().launches(3, "nothing is fused yet")


def test_broadcasting() -> None:
    unfused("x * y + z", x=normal(4, 1, 6), y=normal(5, 1), z=normal(6)).computes_what_eager_does(
        "shapes are aligned at their last dimensions, and dimensions of size 1 are repeated"
    )
    unfused("x * s", x=normal(4, 6), s=normal()).computes_what_eager_does("a tensor without dimensions is repeated")


@pytest.mark.parametrize("other", ["2", "0.1", "True"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def test_numbers(dtype: torch.dtype, other: str) -> None:
    x = whole(11, low=-5 if dtype.is_signed else 0, dtype=dtype)
    unfused(f"(x * {other}, x + {other}, x > {other})", x=x).computes_what_eager_does(
        f"{other} is a Python number, and takes part in promotion as such", exact=True
    )


@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES))
@one_in(8)
@example(torch.float16, torch.bfloat16)
@example(torch.int8, torch.uint8)
@example(torch.bool, torch.float16)
def test_promotion(a: torch.dtype, b: torch.dtype) -> None:
    x, y = (whole(9, low=1, high=5, dtype=dtype, seed=n) for n, dtype in enumerate((a, b)))
    unfused("(x + y, x * y, x == y, x < y, x / y)", x=x, y=y).computes_what_eager_does(
        f"operands of {a} and {b} are cast to the dtype that PyTorch computes in, results to PyTorch's"
    )


def test_a_result_has_eagers_dtype() -> None:
    unfused(
        "(x / y, x > 0, x.to(torch.float16), torch.sqrt(x * x))", x=whole(9), y=whole(9, low=1)
    ).computes_what_eager_does()


def test_sums_of_halves_are_widened() -> None:
    x = torch.full((8,), 60000.0, dtype=torch.float16)
    unfused("(x * 2) / 4", x=x).computes_what_eager_does("x * 2 is stored as fp16, and overflows", exact=True)


def test_nan_and_infinity() -> None:
    text = "(x + 1, -x, x * 0, torch.relu(x), torch.maximum(x, -x), x > x, x == x, torch.where(x > 0, x, 2.0), x.abs())"
    unfused("x**-0.5", x=odd(4, 7)).computes_what_eager_does(
        "x**-0.5 is rsqrt(x), which is NaN where x is minus infinity"
    )
    unfused(text, x=odd(4, 7)).computes_what_eager_does("a kernel treats NaN, infinity and -0.0 as eager does")


def test_integers_are_exact() -> None:
    unfused(
        "(x // y, x % y, x & y, x << 2, ~x, -x)", x=whole(40, low=-99, high=99), y=whole(40, low=1, high=9)
    ).computes_what_eager_does()


@pytest.mark.parametrize("make", [normal, whole])
def test_a_symbolic_size_is_an_operand(make: Callable[..., torch.Tensor]) -> None:
    text = "(x * x.shape[0] + x.shape[1], x * (x.shape[0] / 4))"
    call = program(text, x=make(6, 5), options=UNFUSED, dynamic=True)
    call.computes_what_eager_does("the sizes are numbers that are known at the launch; a quotient is a float")


@pytest.mark.parametrize("text", ["x * (x.shape[0] > 3) + (x.shape[1] == 2)", "x * (x.shape[0] > -1)"])
def test_a_comparison_of_sizes_is_an_operand(text: str) -> None:
    call = program(text, x=normal(6, 5), options=UNFUSED, dynamic=True)
    call.computes_what_eager_does("a comparison is a number that is known at the launch, or when compiling")


def test_numbers_that_are_not_of_the_operators_dtype() -> None:
    unfused("(x + 1, torch.logical_and(x, y), torch.maximum(x, y))", x=normal(5), y=whole(5)).computes_what_eager_does()


def test_a_value_is_cast_only_if_its_dtype_changes() -> None:
    text = "(x + y, x > y, x * 2.5, x + 1)"
    call = unfused(text, x=normal(5), y=normal(5, seed=1)).computes_what_eager_does()
    for kernel in call.programs[0].kernels:
        if ".to(" in kernel.text or "!= 0" in kernel.text:
            call.fail(
                "kernels without casts",
                kernel.text,
                "operands and results have their dtypes already, and so have numbers",
            )


def test_a_constant_has_the_dtype_of_its_tensor() -> None:
    integers = ", ".join(f"torch.full((9,), {number}, dtype=torch.int32) + x" for number in (2.7, -2.7, 2.0**24 + 1))
    booleans = " & ".join(f"torch.full((9,), {number}, dtype=torch.bool)" for number in (2, 0.5, 1e-50))
    unfused(f"({integers}, {booleans} & (x < 0))", x=whole(9)).computes_what_eager_does(
        "2.7 becomes the integer 2, -2.7 becomes -2, 2.0**24 + 1 is not rounded, and 2, 0.5 and 1e-50 become True"
    )


def test_integers_wrap_around() -> None:
    text = "(x + 300, x > -1, x - 1, y + 2**31, y * 3)"
    unfused(
        text, x=whole(9, low=0, high=255, dtype=torch.uint8), y=whole(9, dtype=torch.int32)
    ).computes_what_eager_does("PyTorch casts a number to the dtype of the operator")
