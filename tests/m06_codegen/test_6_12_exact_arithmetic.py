"""Task 6.12: arithmetic follows the IR exactly; where the IR leaves a choice, it follows a GPU."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mini_triton import exact
from mini_triton.exact.floats import with_zero

from tests.checks import described
from tests.corpus import named
from tests.corpus.cases import Case
from tests.oracles import values
from tests.oracles.elementwise import FLOATS, FP8, INTEGERS, QUESTIONS
from tests.support.floats import WIDTHS
from tests.support.m06_codegen.exactness import (
    DTYPES,
    EDGES,
    NEAR_TIES,
    SPECIAL,
    all_pairs,
    awkward_pairs,
    floats,
    fused,
    integers,
    judge,
    judge_shapes,
    largest,
    near_ties,
    of_three,
    rounded,
    unsigned,
    wrapped,
)
from tests.support.m06_codegen.kernels import compiled, judge_corpus
from tests.support.m06_codegen.kernels import judge as judge_kernel

Meaning = Callable[..., Any]

# --- integers


@pytest.mark.parametrize("type", INTEGERS)
def test_unsigned_views(type: str) -> None:
    """Unsigned views have the same bits."""
    operands = [integers(EDGES, type)]
    because = "the bits stay the same; they are read as unsigned"
    judge(exact.unsigned, operands, lambda x: unsigned(x, type), because, result=f"u{operands[0].itemsize}")
    judge(exact.unsigned, [np.array([False, True])], int, "a boolean has one bit", result=np.uint8)


@pytest.mark.parametrize("type", FP8)
def test_unsigned_views_of_floats(type: str) -> None:
    """All 256 floats keep their bits, even infinity, NaN and -0.0."""

    def unsigned_fp8(bits: np.ndarray) -> Any:
        return exact.unsigned(bits.view(DTYPES[type]))

    judge(unsigned_fp8, [np.arange(256, dtype=np.uint8)], int, "the bits stay the same; they are read as unsigned")


def quotient(x: int, y: int) -> int:
    """The quotient, truncated toward zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def without_signs(meaning: Meaning) -> Meaning:
    """The meaning of an operation whose operands are read as unsigned integers."""
    return lambda x, y, type: meaning(unsigned(x, type), unsigned(y, type), type)


def shifted(meaning: Meaning) -> Meaning:
    """A shift. Its amount is unsigned, and may exceed the width."""
    return lambda x, y, type: meaning(x, min(unsigned(y, type), 64), type)


NO_SIGN = "both operands are unsigned: -1 is the largest number"
GONE = "bits that are shifted out are lost; the amount is unsigned, and may exceed the width"
MEANINGS: dict[str, tuple[Meaning, str]] = {
    "divsi": (lambda x, y, type: quotient(x, y), "the quotient is truncated toward zero, and wraps around"),
    "remsi": (lambda x, y, type: x - y * quotient(x, y), "the remainder is x - y * quotient, and has the sign of x"),
    "divui": (without_signs(lambda x, y, type: x // y), NO_SIGN),
    "remui": (without_signs(lambda x, y, type: x % y), NO_SIGN),
    "shli": (shifted(lambda x, y, type: x << y), GONE),
    "shrsi": (shifted(lambda x, y, type: x >> y), GONE),
    "shrui": (shifted(lambda x, y, type: unsigned(x, type) >> y), GONE),
    "maxui": (without_signs(lambda x, y, type: max(x, y)), NO_SIGN),
    "minui": (without_signs(lambda x, y, type: min(x, y)), NO_SIGN),
    "mulhiui": (
        without_signs(lambda x, y, type: x * y >> int(type[1:])),
        "the result is the upper half of the product of two unsigned numbers",
    ),
}
KINDS = [(name, type) for name in MEANINGS for type in (INTEGERS if name != "mulhiui" else INTEGERS[2:])]


def judge_integers(name: str, type: str, operands: list[np.ndarray]) -> None:
    """Compare with Python's integers, which have no width. Divisors of 0 are left out."""
    meaning, because = MEANINGS[name]
    if name[:3] in ("div", "rem"):
        operands = [operands[0], np.where(operands[1] == 0, operands[1].dtype.type(3), operands[1])]
    judge(getattr(exact, name), operands, lambda x, y: wrapped(meaning(x, y, type), type), because)


@pytest.mark.parametrize(("name", "type"), KINDS)
def test_integers(name: str, type: str) -> None:
    """All pairs of bytes; for wider integers, powers of two and their neighbors."""
    x, y = all_pairs() if type == "i8" else awkward_pairs(type)
    judge_integers(name, type, [x, y])
    if name.startswith("sh"):  # by any amount up to the width and a little more
        judge_integers(name, type, [x, np.resize(np.arange(-2, int(type[1:]) + 3), len(x)).astype(x.dtype)])


@pytest.mark.parametrize("type", INTEGERS)
def test_division_by_zero_gives_something(type: str) -> None:
    """Division by zero is not an error: masked-off lanes often divide by zero."""
    x = integers(EDGES, type)
    for function in (exact.divsi, exact.remsi, exact.divui, exact.remui):
        with np.errstate(all="ignore"):
            got = function(x, np.zeros_like(x))
        described = f"{function.__name__} of {x.dtype} {x.shape} by 0 gives {got.dtype} {got.shape}"
        assert (got.dtype, got.shape) == (x.dtype, x.shape), described


# --- floats to floats

NARROWING = [(x, y) for x, y in itertools.product(("f64", "f32"), ("f32", "f16", "bf16")) if WIDTHS[x] > WIDTHS[y]]


@pytest.mark.parametrize(("source", "target"), [*NARROWING, ("f32", "f8E5M2")])
def test_rounding_toward_zero(source: str, target: str) -> None:
    """Rounding toward zero truncates: no magnitude grows, and only an infinity becomes infinite."""
    because = "a number is truncated, even one that is out of range; infinity stays infinite, and zero keeps its sign"
    operands, dtype = [near_ties(source, target)], DTYPES[target]
    judge(exact.toward_zero, operands, lambda x: rounded(x, target, True), because, [dtype.type], dtype)
    judge(exact.fp_to_fp, operands, lambda x: rounded(x, target, True), because, [dtype.type, "rtz"], dtype)


@pytest.mark.parametrize("source", ["f32", "f64"])
def test_rounding_toward_zero_without_infinity(source: str) -> None:
    """f8E4M3FN has no infinity: everything beyond 448, even infinity, becomes 448."""
    operands = [near_ties(source, "f8E4M3FN")]

    def meaning(x: float) -> float:
        return x if math.isnan(x) else rounded(max(-448.0, min(x, 448.0)), "f8E4M3FN", True)

    because = "a number is truncated, zero keeps its sign, and an infinity becomes 448: the format has no infinity"
    dtype = DTYPES["f8E4M3FN"]
    judge(exact.fp_to_fp, operands, meaning, because, [dtype.type, "rtz"], dtype)


def test_rounding_toward_zero_without_negative_zero() -> None:
    """In f8E4M3FNUZ, the bits of -0.0 are NaN."""
    dtype = ml_dtypes.float8_e4m3fnuz
    operands = [np.array([-0.0009, 0.0009, -0.001, -1e-30, -0.0], np.float32)]

    def meaning(x: float) -> float:
        return math.copysign(2.0**-10, x) if abs(x) >= 2.0**-10 else 0.0

    judge(exact.toward_zero, operands, meaning, "the smallest numbers are 2**-10 and -2**-10", [dtype], dtype)


def test_rounding_to_odd() -> None:
    """A number that is not an fp32 becomes its fp32 neighbor with last bit 1, so a second rounding stays correct."""

    def meaning(x: float) -> float:
        cut = np.float32(rounded(x, "f32", toward_zero=True))
        exact_or_nan = float(cut) == x or x != x
        return float(cut if exact_or_nan else (cut.view(np.uint32) | 1).view(np.float32))

    because = "a number that is not an fp32 becomes its fp32 neighbor whose last bit is 1"
    judge(exact.to_odd, [near_ties("f64", "f32")], meaning, because, result=np.float32)


@pytest.mark.parametrize(("source", "target"), NARROWING)
def test_narrower_floats(source: str, target: str) -> None:
    """Numbers halfway between two floats, and numbers next to them."""
    because = f"the nearest {target} is chosen, with ties to even; rounding to fp32 first may give another one"
    operands, dtype = [near_ties(source, target)], DTYPES[target]
    judge(exact.truncf, operands, lambda x: rounded(x, target), because, [dtype.type], dtype)
    judge(exact.fp_to_fp, operands, lambda x: rounded(x, target), because, [dtype.type, "rtne"], dtype)


@pytest.mark.parametrize("target", FP8)
@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
def test_to_fp8(source: str, target: str) -> None:
    """All 16-bit floats, and wider floats that are halfway between two fp8 numbers."""
    wide = floats(range(2**16), source) if WIDTHS[source] == 16 else near_ties(source, target)
    limit = float(largest(target))

    def saturated(x: float) -> float:
        return x if math.isnan(x) else rounded(max(-limit, min(x, limit)), target)

    because = f"the nearest {target} is chosen, with ties to even; a number that is too large becomes {limit:g}"
    judge(exact.fp_to_fp, [wide], saturated, because, [DTYPES[target].type, "rtne"], DTYPES[target])


@pytest.mark.parametrize("target", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("source", FP8)
def test_from_fp8(source: str, target: str) -> None:
    """All 256 numbers: wider floats represent every fp8 number exactly."""
    operands, dtype = [floats(range(256), source)], DTYPES[target]
    judge(
        exact.fp_to_fp,
        operands,
        lambda x: x,
        "a wider float represents every fp8 number exactly",
        [dtype.type, ""],
        dtype,
    )


# --- integers and floats


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_floats(source: str, target: str) -> None:
    """An integer is rounded once, to the nearest float, with ties to even."""
    operands = [integers([*EDGES, *NEAR_TIES], source)]
    because = f"the nearest {target} is chosen, with ties to even; rounding to fp32 first may give another one"
    dtype, options = DTYPES[target], [DTYPES[target].type]
    judge(exact.sitofp, operands, lambda x: rounded(x, target), because, options, dtype)
    judge(exact.uitofp, operands, lambda x: rounded(unsigned(x, source), target), because, options, dtype)


LIMITS = (7, 8, 15, 16, 31, 32, 63, 64)


def around_limits(type: str) -> np.ndarray:
    """Special floats, and floats around the limits of all integers."""
    whole = [sign * (2.0**power + step) for power in LIMITS for step in (-1.0, -0.5, 0.0, 0.5) for sign in (1, -1)]
    numbers = [*SPECIAL, 0.99, -0.99, 3.9, 300.7, -300.7, 1e5, -1e5, 1e10, -1e10, 3e38, *whole]
    with np.errstate(all="ignore"):
        return np.array(numbers).astype(np.float32 if type == "bf16" else DTYPES[type]).astype(DTYPES[type])


@pytest.mark.parametrize("target", [np.int8, np.uint8])
@pytest.mark.parametrize("source", FLOATS)
def test_saturation_to_bytes(source: str, target: type[np.integer]) -> None:
    """A byte saturates like any other integer. The casts below compute 16 bits instead."""
    info = np.iinfo(target)
    nan = 0 if source != "f64" else info.min or 128

    def meaning(x: float) -> int:
        return nan if math.isnan(x) else math.trunc(max(info.min, min(x, info.max)))

    because = f"a float is truncated, and limited to the range from {info.min} to {info.max}; NaN becomes {nan}"
    judge(exact.saturated, [around_limits(source)], meaning, because, [target], target)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_to_integers(source: str, target: str) -> None:
    """A float is rounded toward zero, and saturated to the integer's range."""
    operands = [around_limits(source)]
    width = max(int(target[1:]), 16)
    nan = 2 ** (width - 1) if width == 64 or source == "f64" else 0

    def saturated(x: float, low: int, high: int) -> int:
        if math.isnan(x):
            return wrapped(nan, target)
        return wrapped(high if x > high else low if x < low else math.trunc(x), target)

    because = "numbers that are too large become the largest integer"
    if target == "i8":
        because += " of 16 bits, as on a GPU, and its lower 8 bits are kept"
    because += "; NaN becomes the integer whose only set bit is the top bit" if nan else "; NaN becomes 0"
    half, options = 2 ** (width - 1), [DTYPES[target].type]
    judge(exact.fptosi, operands, lambda x: saturated(x, -half, half - 1), because, options, DTYPES[target])
    judge(exact.fptoui, operands, lambda x: saturated(x, 0, 2 * half - 1), because, options, DTYPES[target])


# --- minimum, maximum, and functions of three operands

EXTREMA = {"maximumf": (max, True), "maxnumf": (max, False), "minimumf": (min, True), "minnumf": (min, False)}


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("name", EXTREMA)
def test_larger_and_smaller(name: str, type: str) -> None:
    """All pairs of special numbers: -0.0 is smaller than 0.0, and each function has its own rule for NaN."""
    chosen, nan_wins = EXTREMA[name]

    def meaning(x: float, y: float) -> float:
        numbers = [number for number in (x, y) if not math.isnan(number)]
        if len(numbers) < 2 and (nan_wins or not numbers):
            return math.nan
        return chosen(numbers, key=lambda number: (number, math.copysign(1, number)))

    x, y = np.meshgrid(SPECIAL, SPECIAL)
    operands = [array.ravel().astype(DTYPES[type]) for array in (x, y)]
    because = "-0.0 is smaller than 0.0, and " + ("NaN prevails" if nan_wins else "NaN is ignored")
    judge(getattr(exact, name), operands, meaning, because)
    apart = [operands[0][operands[0] != 0], np.full(1, 3, DTYPES[type])]
    judge(getattr(exact, name), apart, meaning, because)


def test_a_result_that_does_not_change_is_not_copied() -> None:
    x, y = np.array([0, 1], np.float32), np.array([0, 2], np.float32)
    call = described("with_zero(y, [0.0, 1.0], y, 0.0), where y is [0.0, 2.0]", with_zero, y, x, y, 0.0)
    if (got := call.succeeds("y itself")) is not y:
        call.fail("y itself", f"another array: {got}", because="no element changes, and a copy costs time")


@pytest.mark.parametrize("type", FLOATS)
def test_clamp(type: str) -> None:
    """With `propagate`, NaN stays NaN. Without it, NaN becomes the lower bound, as on a GPU."""
    x = np.array(SPECIAL).astype(DTYPES[type])
    low, high = np.array([-2]).astype(DTYPES[type]), np.array([2]).astype(DTYPES[type])

    def meaning(x: float, low: float, high: float) -> float:
        return max(low, min(x, high)) if not math.isnan(x) else (x if propagated == "all" else low)

    for propagated in ("all", "none"):
        because = "NaN stays NaN" if propagated == "all" else "NaN is ignored, so the result is the lower bound"
        judge(exact.clampf, [x, low, high], meaning, because, [propagated])


@given(drawn=st.sampled_from(FLOATS).flatmap(of_three))
@settings(max_examples=300)
def test_fused_multiply_add(drawn: tuple[str, list[tuple[int, int, int]]]) -> None:
    """`x * y + z`, where z is any number, or nearly the negative of the product."""
    type, rows = drawn
    x, y, z = (floats(column, type) for column in zip(*rows, strict=True))
    because = "the product is exact, and the sum is rounded once"

    def judged(*operands: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            judge(exact.fma, operands, lambda x, y, z: fused(x, y, z, type), because)

    judged(x, y, z)
    with np.errstate(all="ignore"):
        judged(x, y, -(x * y))
        judged(x, np.ones_like(x), z)


TIES = {"bf16": (3, 129), "f16": (33, 65), "f32": (4097, 4097), "f64": (2**26 + 1, 2**27 + 1)}


def test_fused_multiply_add_beside_a_tie() -> None:
    """If the product is halfway between two floats, the smallest addend decides the rounding."""
    for type, factors in TIES.items():
        x, y = (np.full(2, factor).astype(DTYPES[type]) for factor in factors)
        small = np.array([1, -1]) * 2.0 ** (-24 if type == "f16" else -60)
        because = "the product is exact, and the sum is rounded once"
        for factor in (y, -y):
            operands = [x, factor, small.astype(DTYPES[type])]
            judge(exact.fma, operands, lambda x, y, z, type=type: fused(x, y, z, type), because)


# --- shapes and memory layouts of operands


Call = tuple[Meaning, str, int, tuple[Any, ...]]


def calls() -> list[Call]:
    """Functions, with the type and number of their operands, and further arguments."""
    of_integers: list[Call] = [
        (getattr(exact, name), "i32", 2, ()) for name in "divsi remsi shli shrui divui mulhiui".split()
    ]
    of_floats: list[Call] = [(getattr(exact, name), "f32", 2, ()) for name in EXTREMA]
    casts: list[Call] = [(exact.fptosi, "f32", 1, (np.int32,)), (exact.fptoui, "f32", 1, (np.int64,))]
    casts += [(exact.sitofp, "i64", 1, (DTYPES["bf16"].type,)), (exact.uitofp, "i32", 1, (np.float32,))]
    casts += [(exact.fp_to_fp, "f32", 1, (DTYPES["f8E5M2"].type, "rtne")), (exact.truncf, "f64", 1, (np.float16,))]
    return [*of_integers, *of_floats, *((exact.fma, type, 3, ()) for type in ("f32", "f64")), *casts]


@pytest.mark.parametrize(("function", "type", "operands", "options"), calls())
def test_shapes(function: Meaning, type: str, operands: int, options: tuple[Any, ...]) -> None:
    """Operands are scalars, arrays whose shapes broadcast, or non-contiguous arrays."""
    judge_shapes(function, type, operands, options)


# --- recorded results of a GPU

CASTS = "truncf fp_to_fp sitofp uitofp fptosi fptoui".split()
FUNCTIONS = [*MEANINGS, *EXTREMA, *CASTS, "fma", "clampf"]
RECORDED = [
    name
    for name, question in QUESTIONS.items()
    if name.split()[0].split(".")[-1] in FUNCTIONS
    if "i1" not in (*question.types, question.result)
    if name != "math.fma f64"  # the course gives this function
    if name != "tt.fp_to_fp f8E5M2 -> bf16"  # Triton turns infinity and NaN into numbers
]
"""The questions about these functions that a GPU has answered."""


@pytest.mark.parametrize("name", RECORDED)
def test_as_a_gpu(name: str) -> None:
    """Special numbers, and the results of real Triton's code on a GPU."""
    question = QUESTIONS[name]
    operation, *words = name.split()
    function = getattr(exact, operation.split(".")[-1])
    options: list[Any] = [DTYPES[question.result].type] if function.__name__ in CASTS else []
    if operation == "tt.fp_to_fp":
        options.append(words[0] if words[0].startswith("rt") else "")
    if operation == "tt.clampf":
        options = [words[0]]
    operands = question.operands()
    with np.errstate(all="ignore"):
        function(*operands, *options)  # a missing function is reported even without a record
    computed = iter(values.answer(question).astype(object).tolist())
    judge(function, operands, lambda *_: next(computed), "a GPU computes that result", options, DTYPES[question.result])


# --- in kernels


@pytest.mark.parametrize(("name", "expected"), [("max", [2**32 - 1, 7]), ("min", [3, 5])])
def test_atomic_extremes_without_signs(name: str, expected: list[int]) -> None:
    """Each lane of each program updates one of two elements; 2**32 - 1 is the largest number, not -1."""
    lines = f"at = tl.program_id(0) * 4 + tl.arange(0, 4)\ntl.atomic_{name}(out + (at & 1), tl.load(x + at))"
    x, out = np.array([4, 7, 2**32 - 1, 6, 2**31, 5, 3, 7], np.uint32), np.array([9, 6], np.uint32)
    text = compiled(lines, x="*u32", out="*u32")
    judge_kernel(text, (2,), [x, out], [x, np.array(expected, np.uint32)], "the numbers are unsigned")


@pytest.mark.parametrize("case", named("early_exits_2"), ids=str)
def test_kernels_of_the_corpus(case: Case) -> None:
    """Casts from integers to floats, compared with a GPU's recorded results."""
    judge_corpus(case)
