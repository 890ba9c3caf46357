"""Task 4.6: ranges and constants, as in real Triton."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.checks import one_in
from tests.support.m04_language.arguments import DTYPES, alike_cast, tl_name
from tests.support.m04_language.expressions import Scene, judge

FILLED = tuple(dtype for dtype in DTYPES if "fp8" not in dtype)  # not all versions of Triton fill a tensor with fp8
NUMBERS = "0 1 -1 True False 0.0 1.5 -2.5 0.1 300.0 2 127 128 255 256 300".split()
EXTREMES = tuple(
    f"{sign}2**{power}{more}" for sign in ("", "-") for power in (8, 31, 32, 63, 64) for more in ("", "-1")
)
SHAPES = ("(4,)", "[4]", "(2, 8)", "[N, 2]", "(1, 1, 4)", "()", "[]", "(N,)")
SOME = one_in(3)  # each has several expressions
BOUNDS = (-64, -1, 0, 1, 2, 3, 4, 7, 8, 16, 64, 100, 1024, 2**20, 2**20 + 1, 2**21, 2**31 - 1, 2**31, 2**32, 2**32 + 8)


def test_offsets_of_a_program() -> None:
    """Each program of a grid gets its own range of offsets."""
    axes = ("0", "1", "2", "axis=1", "A", "3", "-1")
    offsets = [f"tl.arange(0, 64) + 64 * tl.{name}({axis})" for name in ("program_id", "num_programs") for axis in axes]
    judge({"A": "=2", "n": "i32"}, [*offsets, "tl.cdiv(n, tl.num_programs(0)) * tl.program_id(0) + tl.arange(0, 64)"])


@SOME
@given(
    bounds=st.lists(st.tuples(st.sampled_from(BOUNDS), st.sampled_from(BOUNDS)), min_size=1, max_size=8, unique=True)
)
def test_ranges(bounds: list[tuple[int, int]]) -> None:
    """Ranges with valid bounds and, more often, with invalid ones."""
    named = ["tl.arange(0, N)", "tl.arange(start=3, end=3 + N)", "tl.arange(5000, 5000 + 3 * N)"]
    judge({"N": "=4096"}, [*(f"tl.arange({start}, {end})" for start, end in bounds), *named])


REFUSED = {
    "tl.arange(0, n)": "arange's arguments must be of type tl.constexpr",
    "tl.arange(n, 4)": "arange's arguments must be of type tl.constexpr",
    "tl.arange(0.0, 4.0)": "arange's arguments must be of type tl.constexpr",
    "tl.arange(-1, 1)": "arange must fit in int32",
    "tl.arange(-1, 2)": "arange must fit in int32",
    "tl.arange(0, -4)": "arange must fit in int32",
    "tl.arange(0, 2**31)": "arange must fit in int32",
    "tl.arange(0, 2**40)": "arange must fit in int32",
    "tl.arange(2**31, 2**31 + 4)": "arange must fit in int32",
    "tl.arange(2**31, 8)": "arange must fit in int32",
    "tl.arange(0, 0)": "arange's end argument must be greater than the start argument",
    "tl.arange(4, 4)": "arange's end argument must be greater than the start argument",
    "tl.arange(7, 4)": "arange's end argument must be greater than the start argument",
    "tl.arange(0, 3)": "arange's range must be a power of 2",
    "tl.arange(1, 4)": "arange's range must be a power of 2",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals_name_what_is_at_fault(expression: str) -> None:
    """Invalid ranges are refused."""
    Scene({"n": "i32"}).refuses(expression, ValueError, REFUSED[expression])


@pytest.mark.parametrize("dtype", FILLED)
def test_full_of_a_number(dtype: str) -> None:
    """Integers wrap around; other numbers are refused."""
    judge({}, [f"tl.full((4,), {number}, {tl_name(dtype)})" for number in (*NUMBERS, *EXTREMES)])


@SOME
@given(
    scalar=st.sampled_from(DTYPES),
    dtype=st.sampled_from(FILLED),
    shape=st.sampled_from(SHAPES),
    number=st.sampled_from(NUMBERS),
)
def test_full_of_a_scalar(scalar: str, dtype: str, shape: str, number: str) -> None:
    """A scalar of the kernel is converted; a tensor with a shape is refused."""
    arguments = {"s": scalar, "x": f"{scalar}[4]", "N": "=4"}
    name = tl_name(dtype)
    agreed = alike_cast(scalar, dtype)
    expressions = [f"tl.full({shape}, {value}, {name})" for value in ("s", "x", number) if agreed or value != "s"]
    judge(arguments, [*expressions, f"tl.zeros({shape}, {name})", f"tl.zeros(shape={shape}, dtype={name})"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros(dtype: str) -> None:
    """`zeros_like` takes shape and dtype from a tensor or a scalar; `zeros` refuses shapes that no tensor may have."""
    wrong = [f"tl.zeros({shape}, tl.float32)" for shape in ("(3,)", "(4, 6)", "(-4,)", "(2**21,)", "(1024, 2048)")]
    values = {"x": f"{dtype}[4, 2]", "s": dtype, "N": "=8"}
    judge(values, ["tl.zeros_like(x)", "tl.zeros_like(s)", "tl.zeros([N], x.dtype)", *wrong * (dtype == "i1")])


@SOME
@given(x=st.sampled_from(DTYPES), y=st.sampled_from(DTYPES), number=st.sampled_from((1, 2, 3, 64, 127)))
def test_cdiv(x: str, y: str, number: int) -> None:
    """The result has the dtype that the operators of the formula give."""
    if "fp8" not in x + y:
        calls = f"x, y; y, x; x, {number}; {number}, x; x, N; N, y; N, {number}; {number}, N; x=x, div=N".split("; ")
        judge({"x": f"{x}[4]", "y": y, "N": "=7"}, [*(f"tl.cdiv({call})" for call in calls), "x.cdiv(y)", "y.cdiv(5)"])


@SOME
@given(x=st.integers(0, 10**6), div=st.integers(1, 10**4))
@example(x=2**62 + 1, div=2)
def test_cdiv_of_numbers(x: int, div: int) -> None:
    """The compiler divides known numbers as Python does."""
    judge({"x": f"={x}", "N": f"={div}"}, ["tl.cdiv(x, N)", f"tl.cdiv({x}, N) + 1", f"tl.cdiv(div={div}, x=x)"])
