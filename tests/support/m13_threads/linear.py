"""Linear functions and layouts: all values of a function, vectors along an axis, and sizes to draw."""

from typing import Any

from hypothesis import strategies as st
from mini_triton.backends.threads.layouts import Columns


def values(columns: Columns) -> list[int]:
    """The values at 0, 1, 2, ...: each new bit adds its column to all values before."""
    found = [0]
    for column in columns:
        found += [value ^ column for value in found]
    return found


def along(axis: int, *values: int, rank: int = 2) -> tuple[Any, ...]:
    """A vector for each value, along an axis."""
    return tuple(tuple(value if other == axis else 0 for other in range(rank)) for value in values)


def powers(most: int) -> st.SearchStrategy[int]:
    """Powers of 2, of which the largest has the exponent `most`."""
    return st.integers(0, most).map(lambda exponent: 1 << exponent)
