"""Task 12.2: views, and elementwise operators on views."""

import pytest
import torch
from hypothesis import given

from tests.checks import one_in
from tests.support.m12_fusion.compiling import UNFUSED, insist_that_triton_compiles, normal, program, unfused, whole
from tests.support.m12_fusion.drawn import pointwise_programs

# --- views

VIEWS = {
    "x.t() * 2": 1,
    "x.reshape(3, 20) * 2": 1,
    "x.reshape(-1) * 2": 1,
    "x.t().reshape(15, 4) * 2": 1,
    "x.reshape(3, 4, 5).permute(2, 0, 1) * 2": 1,
    "x.reshape(3, 4, 5).permute(-2, 0, -1) * 2": 1,
    "x.unsqueeze(1) * 2": 1,
    "x.t().unsqueeze(1) * 2": 1,
    "x[1:] * 2": 1,
    "x[:, 2:9:3] * 2": 1,
    "x[-3:-1] * 2": 1,
    "x[-20:3] * 2": 1,
    "x.narrow(-1, 1, 2) * 2": 1,
    "x[1:, ::2] * x[:-1, 1::2]": 1,
    "x.reshape(12, 1, 5).squeeze(1)[3:].t().reshape(-1) * 2": 1,
}


@pytest.mark.parametrize("text", VIEWS)
def test_views(text: str) -> None:
    x = normal(6, 10) if "::2" in text else normal(6, 10) if "9:3" in text else normal(12, 5)
    call = unfused(text, x=x).computes_what_eager_does(
        "a view's element is an element of x at a different index", exact=True
    )
    call.launches(VIEWS[text], "a view moves no data: its readers read x at a different index")


def test_views_of_strided_memory() -> None:
    x = normal(10, 12)
    for y in (x.t(), x[::2, 1:], x[:, ::3], x[2:, 4:5], x[:1].expand(7, 12)):
        unfused("y.reshape(-1) + 1", y=y).computes_what_eager_does("strides are those of the argument", exact=True)


def test_a_view_is_returned_as_a_view() -> None:
    call = program("(x.t(), (x * 2).t())", x=normal(4, 5), options=UNFUSED)
    call.computes_what_eager_does("the strides are equal as well").launches(1, "x.t() shares x's memory")


def test_results_lie_in_memory_as_eagers_do() -> None:
    unfused("x.t() * 2", x=normal(4, 5)).computes_what_eager_does()
    unfused("x.permute(1, 2, 0) + y", x=normal(2, 3, 4), y=normal(3, 4, 1)).computes_what_eager_does()


# --- random programs


@one_in(4)
@given(pointwise_programs())
def test_random_programs(drawn: tuple[str, dict[str, torch.Tensor]]) -> None:
    text, inputs = drawn
    unfused(text, **inputs).computes_what_eager_does()


def test_operators_on_views(device: str) -> None:
    text = "torch.sigmoid(x.t() * y)[1:] / (1 + z * z)"
    call = program(text, x=normal(5, 4), y=normal(5), z=normal(3, 5), options=UNFUSED, device=device)
    call.computes_what_eager_does()


def test_real_triton_compiles_the_kernels() -> None:
    text = "torch.sigmoid(x.t() * 2).reshape(-1)[3:] + y.to(torch.float16)"
    call = unfused(text, x=normal(5, 4, dtype=torch.float16), y=whole(17)).computes_what_eager_does()
    insist_that_triton_compiles(call)
