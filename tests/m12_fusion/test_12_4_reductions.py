"""Task 12.4: reductions, fused with the operators before and after them."""

from collections.abc import Iterator
from unittest import mock

import pytest
import torch
from hypothesis import given
from mini_triton.fusion import tiles
from mini_triton.fusion.body import Body, Line, Space
from mini_triton.fusion.source import ReductionWriter

from tests.checks import described, one_in
from tests.support.m12_fusion.compiling import FUSED, fused, insist_that_triton_compiles, normal, odd, program, whole
from tests.support.m12_fusion.drawn import programs_with_reductions

LONG = 5000
"""The length of a row that is longer than a block, and is therefore read in a loop."""


@pytest.fixture(scope="module", autouse=True)
def short_blocks() -> Iterator[None]:
    """Lower the limit on a row's block, so that kernels read even short rows in loops."""
    with mock.patch.dict(tiles.LARGEST_ROW, cpu=(2048, 2048), cuda=(2048, 2048)):
        yield


# --- one reduction


@pytest.mark.parametrize("size", [1, 2, 5, 64, 2048, LONG])
def test_sums_of_rows(size: int, device: str) -> None:
    call = program("x.sum(1)", x=normal(3, size), options=FUSED, device=device)
    call.computes_what_eager_does(f"rows have {size} elements").launches(1, "one reduction is one kernel")


@pytest.mark.parametrize("axes", ["0", "1", "2", "(0, 1)", "(0, 2)", "(1, 2)", "(0, 1, 2)", "-1, keepdim=True"])
def test_axes(axes: str) -> None:
    fused(f"x.sum({axes})", x=normal(4, 5, 6)).computes_what_eager_does()


@pytest.mark.parametrize("shape", [(3, 5), (3, LONG), (LONG, 3)], ids=["short", "long", "columns"])
@pytest.mark.parametrize("kind", ["amax", "amin", "argmax", "argmin", "prod"])
def test_kinds(kind: str, shape: tuple[int, int]) -> None:
    axis = 1 if shape[1] > 3 else 0
    x = normal(*shape)
    if kind == "prod":
        x = x * 0.001 + 1
    elif kind in ("amax", "argmax"):
        x = -x.abs() - 1  # the 0 beyond the end of a row must not be the result
    else:
        x = x.abs() + 1
    fused(f"x.{kind}({axis})", x=x).computes_what_eager_does("positions beyond the end of a row hold the identity")


@pytest.mark.parametrize("shape", [(3, 5), (3, LONG)], ids=["short", "long"])
def test_conditions(shape: tuple[int, int]) -> None:
    x = normal(*shape)
    x[0] = -1
    x[1] = 1
    fused("((x > 0).any(1), (x > 0).all(1), (x > 0).sum(1), (x == x).all())", x=x).computes_what_eager_does()


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.uint8], ids=str)
def test_integers(dtype: torch.dtype) -> None:
    x = whole(3, 70, low=0 if dtype == torch.uint8 else -100, high=100, dtype=dtype)
    text = "(x.sum(1), x.amax(1), x.amin(1), x.argmax(1))"
    fused(text, x=x).computes_what_eager_does("integers are summed in int64, and the least int8 is -128")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_other_floats(dtype: torch.dtype) -> None:
    call = fused("(x.sum(1), x.amax(1), torch.softmax(x, 1))", x=normal(3, 70, dtype=dtype))
    call.computes_what_eager_does("16-bit floats are summed in fp32")


def test_sums_of_halves_are_fp32() -> None:
    for columns in (2048 + 512, LONG):
        x = torch.full((2, columns), 1.0, dtype=torch.float16)
        fused("x.sum(1)", x=x).computes_what_eager_does(
            "from 2048 on, adding 1 does not change an fp16 number", exact=True
        )


@pytest.mark.parametrize("columns", [11, LONG])
def test_nan_and_infinity(columns: int) -> None:
    text = "(x.sum(1), x.amax(1), x.amin(1), x.argmax(1), x.argmin(1))"
    fused(text, x=odd(3, columns)).computes_what_eager_does(
        "NaN is the largest and the smallest element, and the first NaN counts"
    )


@pytest.mark.parametrize("columns", [60, LONG])
def test_a_place_is_an_integer(columns: int) -> None:
    call = fused("torch.exp(-x.argmax(1).float())", x=normal(3, columns))
    call.computes_what_eager_does("argmax of floats is an integer, which is cast to a float")


@pytest.mark.parametrize("columns", [60, LONG])
def test_the_first_of_equal_elements(columns: int) -> None:
    fused("(x.argmax(1), x.argmin(1))", x=whole(3, columns, low=-2, high=3).float()).computes_what_eager_does(
        "of several largest elements, the first counts", exact=True
    )
    x = whole(6, columns, low=-2, high=3).float()
    fused("x.argmax()", x=x).computes_what_eager_does("the index counts all elements of x", exact=True)
    because = "the index counts x's elements row by row, in whatever order the kernel reads memory"
    fused("(x.argmax(), x.argmin())", x=x.t()).computes_what_eager_does(because, exact=True)


def test_a_position_lies_in_its_row() -> None:
    x = torch.full((5, 7), -float("inf"))
    for y in (x, x.t()):
        fused("(x.argmax(1), x.argmax(), (-x).argmin())", x=y).computes_what_eager_does(
            "no element is larger than the identity, but position 0 is in the row", exact=True
        )


@pytest.mark.parametrize("text", ["x.sum()", "x.sum(0)", "x.amax(0)", "(x * x).sum()"])
def test_few_long_rows(text: str) -> None:
    x = normal(40000, 2) if "0)" in text else normal(2, 40000)
    call = fused(text, x=x).computes_what_eager_does("long rows are reduced in pieces, and then the pieces' results")
    call.launches(2, "one kernel reduces the pieces of the rows, and one the pieces' results")


# --- fused with operators before and after

ONE_KERNEL = {
    "torch.softmax(x * 2, -1) + 1": "maximum, sum and result have the same rows",
    "F.log_softmax(x, -1)": "maximum, sum and result have the same rows",
    "torch.softmax(x, 0)": "columns are rows with a stride",
    "F.layer_norm(F.gelu(x) + y, (x.shape[1],), w, w)": "mean, variance and result have the same rows",
    "x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w": "the mean of squares has the same rows",
    "(x.sum(1), x.amax(1), x + 1)": "all of them read the same x",
    "x / x.norm(dim=-1, keepdim=True)": "the norm and the result have the same rows",
    "torch.logsumexp(x, 1)": "maximum and sum have the same rows",
    "x.var(1)": "mean and variance have the same rows",
    "(x - x.amax(1, keepdim=True)).sum(1) * x.sum(1)": "all reductions have the same rows",
}


@pytest.mark.parametrize("text", ONE_KERNEL)
def test_one_kernel(text: str) -> None:
    call = fused(text, x=normal(7, 33), y=normal(7, 33, seed=1), w=normal(33))
    call.computes_what_eager_does().launches(1, ONE_KERNEL[text])


@pytest.mark.parametrize("text", list(ONE_KERNEL))
def test_one_kernel_of_loops(text: str) -> None:
    x = normal(LONG, 3) if ", 0)" in text else normal(3, LONG)
    call = fused(text, x=x, y=normal(*x.shape, seed=1), w=normal(x.shape[1]))
    call.computes_what_eager_does(f"rows of {LONG}").launches(1, ONE_KERNEL[text])


def test_the_sum_joins_first() -> None:
    call = fused("(a := x + 1) * a.sum() + x", x=normal(100)).computes_what_eager_does()
    call.launches(1, "merging add with mul and add_1 saves the most, but would cause a cycle as long as sum_1 is apart")


LOOPS = {
    "x.sum(1)": (1, "one reduction"),
    "(x.sum(1), x.amax(1), (x * x).sum(1))": (1, "no reduction waits for another"),
    "(x.sum(1), x + 1)": (1, "x + 1 waits for no reduction"),
    "torch.logsumexp(x, 1)": (2, "the sum waits for the maximum"),
    "torch.softmax(x, 1)": (3, "the result waits for the sum, which waits for the maximum"),
    "x - x.sum(1, keepdim=True)": (2, "the result waits for the sum"),
    "(x - x.sum(1, keepdim=True), x.amax(1))": (2, "amax need not wait for the sum"),
    "x.sum(1, keepdim=True).expand(x.shape) * 2": (2, "the result has a whole row, although its elements are equal"),
    "x.sum(1) + x.amax(1) * 2": (1, "values with one element per row are stored after the loop"),
}


@pytest.mark.parametrize("text", LOOPS)
def test_a_row_is_read_as_often_as_needed(text: str) -> None:
    count, because = LOOPS[text]
    call = fused(text, x=normal(3, LONG)).computes_what_eager_does()
    found = call.programs[0].source.count("for start in range(")
    if found != count:
        call.fail(f"{count} loop{'s' * (count != 1)} over the rows", f"{found}:\n{call.programs[0].source}", because)


def test_levels() -> None:
    call = fused("torch.softmax(x, 1)", x=normal(3, LONG)).computes_what_eager_does()
    (group,) = call.programs[0].groups
    writer = ReductionWriter(group)
    names = ", ".join(line.op for line in group.body.lines)
    asked = described(f"levels of the lines {names} of softmax(x, 1)", getattr, writer, "levels")
    asked.returns(
        [0, 1, 1, 1, 2, 2],
        "a reduction's level includes the reduction: the exponential waits for one, the result for two",
    )


def test_the_lines_of_a_reduction() -> None:
    (group,) = fused("x.argmax(1)", x=normal(8, 5)).computes_what_eager_does().programs[0].groups
    x0, r1 = group.space.coordinates
    load, line = group.body.lines
    call = described("lines of the body of x.argmax(1), with x: float32[8, 5]", lambda: [load.place, *line])
    call.returns(
        [5 * x0 + r1, "reduce", (0,), torch.int64, "argmax", r1, None], "the docstring of `reduced` describes the line"
    )


def test_a_sum_of_halves_is_a_line_in_fp32() -> None:
    (group,) = fused("x.sum(1)", x=normal(8, 5, dtype=torch.float16)).computes_what_eager_does().programs[0].groups
    *_, line = group.body.lines
    call = described("the line of the reduction in x.sum(1), with x: float16[8, 5]", lambda: (line.op, line.dtype))
    call.returns(("reduce", torch.float32), "16-bit floats are summed in fp32")


def test_the_level_of_a_condition() -> None:
    body = Body(Space((), ()), set())
    body.add(Line("load", (), torch.float32))
    body.add(Line("reduce", (0,), torch.float32, "any"))
    body.add(Line("logical_not", (1,), torch.bool))
    body.add(Line("load", (), torch.float32, condition=2))
    call = described("levels of load, any, logical_not, and a load under this condition", body.levels)
    call.returns([0, 1, 1, 1], "the last load waits for its condition, which waits for the reduction")


def test_a_value_per_row_is_stored_after_the_loops() -> None:
    text = "[(s := x.sum(1)), (r := (x - s[:, None]) * y[:, None]), y.copy_(s), r][-1]"
    call = program(text, x=normal(3, LONG), y=normal(3), options=FUSED)
    call.computes_what_eager_does("the second loop needs y, which the sum overwrites").launches(1, "")


def test_arguments_that_are_overwritten_after_the_loops() -> None:
    """The new elements of each argument come from the old elements of the other."""
    text = "[(s := x.sum(1)), (a := y + s), (b := z - s), y.copy_(b), z.copy_(a), x.amax(1)][-1]"
    for length in (9, LONG):
        call = program(text, x=whole(3, length), y=whole(3), z=whole(3), options=FUSED)
        call.computes_what_eager_does("all elements are loaded before any is stored").launches(1, "")


# --- together


def test_a_row_that_only_some_results_need() -> None:
    text = "F.pad((x - x.sum(1, keepdim=True)), (2, 1), value=3.0)"
    fused(text, x=normal(5, 9)).computes_what_eager_does("the sums are those of whole rows, without the padding")
    text = "F.pad(x.sum(1, keepdim=True) + y, (3, 4)) + x"
    call = fused(text, x=normal(5, 9), y=normal(5, 2, seed=1))
    call.computes_what_eager_does("y is needed only in columns 3 and 4, after the sum of the whole row")
    call.launches(1, "all of them read the same rows")
    text = "torch.where(y > 0, x.sum(1, keepdim=True), x)"
    fused(text, x=normal(5, 9), y=normal(5, 9, seed=1)).computes_what_eager_does()


def test_rows_of_views() -> None:
    fused("x.t().reshape(6, 20).sum(1)", x=normal(12, 10)).computes_what_eager_does()
    fused("x[1:, ::2].amax(0)", x=normal(12, 10)).computes_what_eager_does()
    fused("(x + y).sum((0, 2))", x=normal(4, 1, 6), y=normal(5, 6)).computes_what_eager_does()
    fused("(x.sum(0), x.sum(1))", x=normal(5, 1).expand(5, 7)).computes_what_eager_does("all elements of a row count")
    fused("x.argmax(1)", x=normal(1, 7).expand(5, 7)).computes_what_eager_does(
        "the elements do not depend on the row, so the operand is a tile of shape [1, RBLOCK]"
    )


@pytest.mark.parametrize(
    "text", ["torch.softmax(x, -1)", "F.layer_norm(x, (33,), w, w)", "F.group_norm(x.reshape(1, 6, 11), 3)"]
)
def test_gradients(text: str, device: str) -> None:
    x = normal(2, 33)
    inputs = {"x": x, "w": normal(33)} if "w" in text else {"x": x}
    program(text, **inputs, gradient=True, options=FUSED, device=device).computes_what_eager_does()


def test_symbolic_rows() -> None:
    call = program("torch.softmax(x + y, -1)", x=normal(5, 70), y=normal(70), dynamic=True, options=FUSED)
    call.computes_what_eager_does("a row of unknown length is read in loops").launches(1, "loops need no second kernel")


@one_in(5)
@given(programs_with_reductions())
def test_random_programs(drawn: tuple[str, dict[str, torch.Tensor]]) -> None:
    text, inputs = drawn
    fused(text, **inputs).computes_what_eager_does()


def test_real_triton_compiles_the_kernels() -> None:
    for text in ("torch.softmax(x, 1)", "(x.argmax(1), x.amin(1), (x > 0).any(1))"):
        for columns in (33, LONG):
            insist_that_triton_compiles(fused(text, x=normal(2, columns)).computes_what_eager_does())
