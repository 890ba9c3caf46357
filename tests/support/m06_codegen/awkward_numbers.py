"""Numbers at which arithmetic goes wrong: where something turns over, is rounded, or is no number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from tests.support.floats import WIDTHS, all_bits
from tests.support.m06_codegen.exactness import DTYPES, floats, integers, largest

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan)
EDGES = sorted({sign * (2**power + step) for power in range(65) for step in (-1, 0, 1) for sign in (1, -1)})

words = st.sampled_from(EDGES) | st.integers(-(2**64), 2**64)
pairs = st.lists(st.tuples(words, words | st.integers(-2, 70)), min_size=1, max_size=20)

NEAR_TIES = [
    sign * ((odd << shift) + step)
    for odd, shift, sign in itertools.product(
        (1, 3, 129, 255, 257, 2049, 2**24 + 1, 2**25 + 2**17 + 1), range(56), (1, -1)
    )
    for step in (-1, 0, 1)
]
"""Integers halfway between two that a float has, and their neighbours."""


def columns(type: str, rows: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """Rows of integers as one array for each operand."""
    return [integers(column, type) for column in zip(*rows, strict=True)]


def all_pairs() -> list[np.ndarray]:
    """Every two integers of 8 bits."""
    x, y = np.meshgrid(np.arange(-128, 128, dtype=np.int8), np.arange(-128, 128, dtype=np.int8))
    return [x.ravel(), y.ravel()]


def awkward_pairs(type: str) -> list[np.ndarray]:
    """Every two of the numbers at which something turns over."""
    width = int(type[1:])
    numbers = [number for number in EDGES if -(2 ** (width - 1)) <= number < 2 ** (width - 1)]
    x, y = np.meshgrid(*[integers([*numbers[::3], *range(-3, 4), numbers[-1]], type)] * 2)
    return [x.ravel(), y.ravel()]


def near_ties(source: str, target: str) -> np.ndarray:
    """Numbers of the wide type halfway between two of the narrow one, and their neighbours; and the extremes."""
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
    """A type, and the bits of three floats, several times."""
    return st.tuples(st.just(type), st.lists(st.tuples(*[all_bits(type)] * 3), min_size=1, max_size=8))
