"""Task 7.7: how many programs a launch runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.runtime.grids import LIMITS, grid_of

from tests.checks import described

shapes = st.lists(st.integers(0, 2**16 - 1), min_size=1, max_size=3).map(tuple)


def call(grid: Any, shown: str = "", **values: Any) -> described:
    """The call of `grid_of` for a launch with these arguments."""
    return described(f"grid_of('my_kernel', {shown or repr(grid)}, {values})", grid_of, "my_kernel", grid, values)


def three(sizes: Sequence[int]) -> tuple[int, ...]:
    return (*sizes, 1, 1)[:3]


@given(shapes)
@example(LIMITS)
@example((0,))
def test_tuples(sizes: tuple[int, ...]) -> None:
    call(sizes).returns(three(sizes), because="missing axes have one program")
    call(list(sizes)).returns(three(sizes), because="a list is also accepted")


@given(shapes)
def test_integers_of_numpy(sizes: tuple[int, ...]) -> None:
    call(tuple(np.array(sizes))).returns(
        three(sizes), because="NumPy's integers are accepted; the result consists of Python's integers"
    )
    call(tuple(map(np.uint16, sizes))).returns(three(sizes))


@given(shapes)
def test_functions(sizes: tuple[int, ...]) -> None:
    asked: list[Any] = []

    def grid(meta: Any) -> tuple[int, ...]:
        asked.append(dict(meta))
        return sizes

    call(grid, f"a function that returns {sizes}", n=1000, BLOCK=64, x=None).returns(three(sizes))
    assert asked == [{"n": 1000, "BLOCK": 64, "x": None}], (
        f"a grid that is a function is called once, with a dictionary of all arguments\n"
        f"  expected  [{{'n': 1000, 'BLOCK': 64, 'x': None}}]\n"
        f"  got       {asked}"
    )
    call(lambda meta: list(sizes), f"a function that returns {list(sizes)}").returns(three(sizes))


def test_grids_that_are_not_tuples() -> None:
    call(5).raises(
        TypeError, "my_kernel", "(5,)", because="a bare int is not a grid, and the message says what to write"
    )
    for grid in (0, None, "1", 2.0, {1: 2}, {3}, True, np.array([2, 3])):
        call(grid).raises(TypeError, "my_kernel", because="a grid is a tuple or a list")
        call(lambda meta, grid=grid: grid, f"lambda meta: {grid!r}").raises(TypeError, "my_kernel")


def test_sizes_that_are_not_integers() -> None:
    for size in (2.0, 1.5, "2", None, (1,), np.float64(4)):
        call((size,)).raises(TypeError, "my_kernel", str(size), because="a number of programs is an int")
        call((1, 2, size)).raises(TypeError, "my_kernel", str(size))
        call(lambda meta, size=size: (size,), f"lambda meta: ({size!r},)").raises(TypeError, "my_kernel")


def test_too_many_axes_or_none() -> None:
    grids: tuple[Any, ...] = ((), [], (1, 1, 1, 1), (2,) * 5)
    for grid in grids:
        call(grid).raises(ValueError, "my_kernel", because="a grid has one to three axes")


@given(st.integers(0, 2), st.one_of(st.integers(-(2**33), -1), st.integers(1, 2**33)))
@example(0, 1)
@example(1, 1)
@example(2, -1)
def test_limits(axis: int, beyond: int) -> None:
    size = beyond if beyond < 0 else LIMITS[axis] + beyond
    grid = (*[1] * axis, size)
    call(grid).raises(ValueError, "my_kernel", str(size), because=f"axis {axis} has 0 to {LIMITS[axis]} programs")
