"""Arithmetic element by element, judged by Python's integers and fractions, which are exact.

    judge(exact.divsi, [x, y], truncated_quotient, because="division truncates toward zero")

`truncated_quotient` computes the exact result for two Python numbers. A failure shows the smallest operands with a
wrong result.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.checks import described
from tests.oracles import elementwise
from tests.support.floats import EXPONENTS, WIDTHS, all_bits

DTYPES = {name: dtype for name, dtype in elementwise.DTYPES.items() if name != "i1"}


def integers(numbers: Iterable[int], type: str) -> np.ndarray:
    """An array of integers, truncated to their lower bits."""
    width = int(type[1:])
    return np.array([number % 2**width for number in numbers], f"uint{width}").view(DTYPES[type])


def floats(bits: Iterable[int], type: str) -> np.ndarray:
    """An array of floats, given by their bits."""
    return np.array(list(bits), f"uint{WIDTHS[type]}").view(DTYPES[type])


def wrapped(number: int, type: str) -> int:
    """A number wrapped around into a signed integer of this type."""
    half = 2 ** (int(type[1:]) - 1)
    return (number + half) % (2 * half) - half


def unsigned(number: int, type: str) -> int:
    """The bits of a number of this type, read as an unsigned integer."""
    return number % 2 ** int(type[1:])


def largest(type: str) -> Fraction:
    """The largest number of a float type."""
    if type == "f8E4M3FN":
        return Fraction(448)
    digits = WIDTHS[type] - EXPONENTS[type]
    return (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** (2 ** (EXPONENTS[type] - 1) - 1)


def rounded(number: Fraction | float, type: str, toward_zero: bool = False) -> float:
    """The float of a type that is nearest to a number, with ties to even; or the number truncated toward zero.

    Infinity and NaN stay. A number that is too large becomes infinity, or the largest float if it is truncated.
    """
    if isinstance(number, float) and not math.isfinite(number):
        return number
    size = abs(Fraction(number))
    if not size:
        return float(number)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    digits = WIDTHS[type] - EXPONENTS[type]
    unit = Fraction(2) ** (max(exponent, 2 - 2 ** (EXPONENTS[type] - 1)) - digits + 1)
    steps = math.floor(size / unit) if toward_zero else round(size / unit)  # `round` breaks ties to even
    result = steps * unit
    if result > largest(type):
        result = largest(type) if toward_zero else math.inf
    return -float(result) if number < 0 else float(result)


def fused(x: float, y: float, z: float, type: str) -> float:
    """`x * y + z`, rounded once."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return float(np.float64(x) * np.float64(y) + np.float64(z))
    if x == 0 or y == 0:
        return x * y + z
    return rounded(Fraction(x) * Fraction(y) + Fraction(z), type)


def same(got: Any, expected: Any) -> bool:
    """Whether two numbers are equal. 0.0 differs from -0.0, and all NaNs are equal."""
    if expected != expected:
        return bool(got != got)
    return bool(got == expected) and (expected != 0 or math.copysign(1, got) == math.copysign(1, expected))


def judge(
    function: Callable[..., Any],
    operands: Sequence[np.ndarray],
    meaning: Callable[..., Any],
    because: str,
    options: Sequence[Any] = (),
    result: Any = None,
) -> None:
    """Call a function on arrays; fail if an element differs from `meaning` of the operands' elements.

    `options` are further arguments. `result` is the expected dtype, by default the dtype of the operands.
    """
    __tracebackhide__ = True
    dtype = np.dtype(result or operands[0].dtype)
    with np.errstate(all="ignore"):
        got = function(*operands, *options)
    whole = described(_words(function, [f"<{x.dtype} {list(x.shape)}>" for x in operands], options), function)
    if got.dtype != dtype or got.shape != np.broadcast_shapes(*(x.shape for x in operands)):
        whole.fail(f"elements of {dtype}", got, because)
    numbers = [_numbers(array) for array in np.broadcast_arrays(*operands)]
    wrong: list[tuple[float, int, tuple[Any, ...], Any, Any]] = []
    for case, element in zip(zip(*numbers, strict=True), _numbers(got), strict=True):
        expected = meaning(*case)
        if not same(element, expected):
            wrong.append((_size(case), len(wrong), case, element, expected))
    if wrong:
        _, _, case, element, expected = min(wrong)
        shown = [f"{x.dtype}({number!r})" for x, number in zip(operands, case, strict=True)]
        described(_words(function, shown, options), function).fail(repr(expected), element, because)


def judge_shapes(function: Callable[..., Any], type: str, operands: int, options: Sequence[Any]) -> None:
    """Call a function on scalars and on arrays of many kinds; compare each element with a call for it alone."""
    __tracebackhide__ = True
    matrix = np.array([[7, -7, 3, 0], [1, 5, -2, 9]]).astype(DTYPES[type])
    scalar = DTYPES[type].type(2)
    others = [scalar] * (operands - 1)
    name = f"exact.{function.__name__}"
    with np.errstate(all="ignore"):
        for x in (scalar, np.array(scalar), matrix, matrix.T, matrix[:, ::2], matrix[:, :1], matrix[:, :0]):
            got = function(x, *others, *options)
            assert np.shape(got) == np.shape(x), f"{name} of shape {np.shape(x)} gives shape {np.shape(got)}"
            single = [number for element in np.ravel(x) for number in _numbers(function(element, *others, *options))]
            assert _numbers(got) == single, f"{name} of an array is {_numbers(got)}, but {single} for single elements"
        if operands > 1:
            got = function(matrix[:, :1], matrix[:1] + scalar, *others[1:], *options)
            assert got.shape == (2, 4), f"{name} of shapes (2, 1) and (1, 4) has the shape {got.shape}, not (2, 4)"


def _numbers(array: Any) -> list[Any]:
    """The elements as Python numbers."""
    array = np.asarray(array)
    with np.errstate(invalid="ignore"):  # NumPy warns of signaling NaNs
        return (array if array.dtype.kind in "iub" else array.astype(np.float64)).ravel().tolist()


def _size(case: Iterable[float]) -> float:
    """A measure of a case's size, by which cases are sorted, so that a failure shows a simple one."""
    return sum(abs(number) if math.isfinite(number) else 1e300 for number in case)


def _words(function: Callable[..., Any], operands: Sequence[str], options: Sequence[Any]) -> str:
    others = [option.__name__ if isinstance(option, type) else repr(option) for option in options]
    return f"exact.{function.__name__}({', '.join([*operands, *others])})"


# --- numbers at which arithmetic goes wrong: they overflow, are rounded, or are NaN

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan)
EDGES = sorted({sign * (2**power + step) for power in range(65) for step in (-1, 0, 1) for sign in (1, -1)})

words = st.sampled_from(EDGES) | st.integers(-(2**64), 2**64)

NEAR_TIES = [
    sign * ((odd << shift) + step)
    for odd, shift, sign in itertools.product(
        (1, 3, 129, 255, 257, 2049, 2**24 + 1, 2**25 + 2**17 + 1), range(56), (1, -1)
    )
    for step in (-1, 0, 1)
]
"""Integers halfway between two adjacent floats, and the integers next to them."""


def all_pairs() -> list[np.ndarray]:
    """All pairs of 8-bit integers."""
    x, y = np.meshgrid(np.arange(-128, 128, dtype=np.int8), np.arange(-128, 128, dtype=np.int8))
    return [x.ravel(), y.ravel()]


def awkward_pairs(type: str) -> list[np.ndarray]:
    """All pairs of numbers near which results may wrap around or change sign."""
    width = int(type[1:])
    numbers = [number for number in EDGES if -(2 ** (width - 1)) <= number < 2 ** (width - 1)]
    x, y = np.meshgrid(*[integers([*numbers[::3], *range(-3, 4), numbers[-1]], type)] * 2)
    return [x.ravel(), y.ravel()]


def near_ties(source: str, target: str) -> np.ndarray:
    """Numbers of the wide type halfway between two of the narrow type, numbers next to them, and the extremes."""
    bits = np.arange(0, 2 ** min(WIDTHS[target], 16), 37, dtype=np.uint64) << np.uint64(max(WIDTHS[target] - 16, 0))
    limit = float(largest(target))
    extremes = [sign * limit * factor for factor in (1, 1.001, 1.01, 1.2, 2) for sign in (1, -1)]
    with np.errstate(all="ignore"):
        narrow = floats(map(int, bits), target).astype(np.float64)
        steps = floats(map(int, bits + np.uint64(1)), target).astype(np.float64) - narrow
        middle = (narrow + steps / 2).astype(DTYPES[source])
        around = [np.nextafter(middle, DTYPES[source].type(end)) for end in (-np.inf, np.inf)]
        return np.concatenate([middle, *around, np.array([*SPECIAL, *extremes]).astype(DTYPES[source])])


def of_three(type: str) -> st.SearchStrategy[tuple[str, list[tuple[int, int, int]]]]:
    """A type, and several triples of floats, given by their bits."""
    return st.tuples(st.just(type), st.lists(st.tuples(*[all_bits(type)] * 3), min_size=1, max_size=8))
