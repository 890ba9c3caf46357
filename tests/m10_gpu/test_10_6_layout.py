"""Task 10.6: which thread holds which element. The judge is NumPy, which splits positions into sweeps and vectors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.codegen.cuda_gen.layout import Layout, Place

from tests.checks import calling

TILE = Layout((4, 8), (1, 0), 2, 8)


def places_of(layout: Layout) -> np.ndarray:
    """The element that each thread (first axis) holds in each register (second axis), numbered row by row."""
    columns = [n for n in (layout.shape[axis] for axis in layout.order)]
    elements = np.arange(layout.size).reshape(layout.shape).transpose(tuple(reversed(layout.order)))
    positions = elements.reshape(-1)
    assert positions.size == np.prod(columns)
    sweep = layout.vector * layout.threads
    positions = np.resize(positions, max(layout.size, sweep))  # repeats a small tile
    pieces = positions.reshape(-1, layout.threads, layout.vector)
    return pieces.transpose(1, 0, 2).reshape(layout.threads, -1)


def held(layout: Layout, thread: int, register: int) -> int:
    """The element whose index the learner's `index` returns, numbered row by row."""
    index = calling(layout.index, Place(thread, register))()
    inside = len(index) == len(layout.shape) and all(0 <= i < n for i, n in zip(index, layout.shape, strict=True))
    assert inside, f"{layout}: the index for thread {thread}, register {register} is {index}, which is outside the tile"
    return int(np.ravel_multi_index(tuple(index), layout.shape))


def test_a_thread_has_neighbors() -> None:
    calling(TILE.index, Place(0, 0)).returns((0, 0))
    calling(TILE.index, Place(0, 1)).returns((0, 1), because="a vector has 2 elements of a row")
    calling(TILE.index, Place(1, 0)).returns((0, 2), because="the next thread has the next vector")
    calling(TILE.index, Place(4, 0)).returns((1, 0), because="four vectors fill a row of 8")


def test_then_comes_the_next_sweep() -> None:
    calling(TILE.index, Place(0, 2)).returns((2, 0), because="8 threads with 2 elements each hold 16 of 32")
    calling(TILE.index, Place(5, 2)).returns((3, 2))


def test_order_says_which_axis_is_fastest() -> None:
    calling(Layout((4, 8), (0, 1), 2, 8).index, Place(1, 1)).returns(
        (3, 0), because="positions run down a column first"
    )


def test_small_tiles_are_held_several_times() -> None:
    small = Layout((4,), (0,), 1, 8)
    calling(small.index, Place(6, 0)).returns((2,), because="after four threads, the tile starts again")
    calling(small.place, (2,)).returns(Place(2, 0), because="thread 2 holds it, thread 6 a copy")


def test_place_is_the_inverse() -> None:
    calling(TILE.place, (0, 1)).returns(Place(0, 1))
    calling(TILE.place, (1, 0)).returns(Place(4, 0))
    calling(TILE.place, (3, 2)).returns(Place(5, 2))


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 4, 8, 16]), min_size=1, max_size=3)))
    order = tuple(draw(st.permutations(range(len(shape)))))
    threads, size = draw(st.sampled_from([1, 2, 4, 8, 32])), int(np.prod(shape))
    vector = draw(st.sampled_from([n for n in (1, 2, 4, 8) if n <= size]))
    return Layout(shape, order, vector, threads)


@given(layout=layouts())
def test_elements_are_where_numpy_puts_them(layout: Layout) -> None:
    expected = places_of(layout)
    for thread, register in itertools.product(range(layout.threads), range(layout.registers)):
        got, right = held(layout, thread, register), expected[thread, register]
        assert got == right, (
            f"{layout}: thread {thread} holds in register {register} the element\n"
            f"  {unraveled(got, layout)}, but it should be\n  {unraveled(right, layout)}"
        )


@given(layout=layouts())
def test_every_element_is_found(layout: Layout) -> None:
    """`place` names the first thread that holds an element."""
    expected = places_of(layout)
    for index in np.ndindex(*layout.shape):
        thread, register = calling(layout.place, index)()
        holders = np.argwhere(expected == np.ravel_multi_index(index, layout.shape))
        assert [thread, register] == list(holders[0]), (
            f"{layout}: place({index}) is thread {thread}, register {register}; it should be thread {holders[0][0]},"
            f" register {holders[0][1]}"
        )


def unraveled(number: Any, layout: Layout) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(int(number), layout.shape)))
