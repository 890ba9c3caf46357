"""Task 13.11: places in shared memory. The judge counts the words of each bank, lane by lane."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.swizzles import places, shared_registers

from tests.checks import described
from tests.support.m13_threads.exchanging import Pair, conflict, linear, pairs, transposed


def checked(pair: Pair, size: int) -> None:
    """Check what `places` promises for elements of `size` bytes."""
    source, target = pair.source.flat(pair.shape), pair.target.flat(pair.shape)
    call = described(f"places(source, target, {pair.bits}, {size}) for {pair}", places, source, target, pair.bits, size)
    found = call.succeeds()
    if not isinstance(found, tuple) or len(found) != pair.bits:
        call.fail(f"a tuple of {pair.bits} columns", found)
    if {linear(found, place) for place in range(1 << pair.bits)} != set(range(1 << pair.bits)):
        call.fail(f"a function that takes each of {1 << pair.bits} positions once", found)
    vector = tuple(shared_registers(source, target, size))
    if found[: len(vector)] != vector:
        call.fail(f"the columns {vector} first: these neighbors move with one instruction", found)
    for layout, verb in ((source, "store"), (target, "load")):
        if lanes := conflict(layout, found, size, 1 << len(vector)):
            call.fail(f"lanes that {verb} without bank conflicts", f"{found}; when they {verb}, {lanes}")


def test_one_element() -> None:
    checked(Pair((1,), ((0,), (0,)), ({}, {})), 4)


def test_a_line_needs_no_swizzle() -> None:
    checked(Pair((32,), ((0,), (0,)), ({}, {})), 4)
    checked(Pair((64,), ((0,), (0,)), ({}, {0: 2})), 4)


def test_rows_to_columns() -> None:
    """Row by row, all elements of a column are in one bank."""
    checked(transposed(32, 32), 4)


@pytest.mark.parametrize("rows, columns", [(64, 64), (16, 128), (128, 16), (4, 256), (2, 2), (8, 8)])
def test_rectangles(rows: int, columns: int) -> None:
    checked(transposed(rows, columns), 4)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_elements_of_other_sizes(size: int) -> None:
    checked(transposed(64, 64), size)
    checked(transposed(64, 64, together=16 // size), size)


@pytest.mark.parametrize("rows, columns", [(32, 32), (16, 32), (8, 64), (64, 4), (64, 32)])
def test_small_tensors_of_small_elements(rows: int, columns: int) -> None:
    """Several elements share a word, but there are few lines."""
    checked(transposed(rows, columns), 1)
    checked(transposed(rows, columns), 2)
    checked(transposed(rows, columns, together=2), 1)


def test_neighbors_that_both_layouts_have() -> None:
    """One instruction moves 16 bytes, so 8 lanes are served at once."""
    checked(Pair((64, 64), ((1, 0), (0, 1)), ({1: 4}, {1: 4})), 4)
    checked(Pair((64, 64), ((1, 0), (0, 1)), ({1: 8}, {1: 8})), 2)
    checked(Pair((32, 32, 4), ((2, 1, 0), (2, 0, 1)), ({2: 2}, {2: 4})), 8)


def test_neighbors_of_one_layout() -> None:
    checked(Pair((64, 64), ((1, 0), (1, 0)), ({1: 4}, {})), 4)
    checked(Pair((64, 64), ((1, 0), (0, 1)), ({1: 4}, {})), 4)


@given(pair=pairs(), size=st.sampled_from([4, 1, 2, 8]))
def test_random_pairs_of_layouts(pair: Pair, size: int) -> None:
    checked(pair, size)


@given(pair=pairs())
def test_both_directions_are_alike(pair: Pair) -> None:
    """Nothing is promised of which layout comes first."""
    checked(Pair(pair.shape, pair.orders[::-1], pair.neighbors[::-1], pair.warps), 4)
