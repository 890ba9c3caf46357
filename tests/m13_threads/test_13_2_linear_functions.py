"""Task 13.2, linear functions: all values of small functions, and functions that were composed of simple steps."""

import functools
import itertools
import operator
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.backends.threads.layouts import Columns, apply, compose, invert, is_independent

from tests.checks import calling
from tests.support.m13_threads.linear import values


def functions(bits: int, least: int = 0, most: int = 6) -> st.SearchStrategy[Columns]:
    """Functions from `least` to `most` bits to numbers of `bits` bits."""
    return st.lists(st.integers(0, (1 << bits) - 1), min_size=least, max_size=most).map(tuple)


# --- values


@pytest.mark.parametrize(
    "columns, number, expected, because",
    [
        ((1, 2, 4), 6, 6, "the identity"),
        ((1, 6), 0, 0, "every linear function is 0 at 0"),
        ((1, 6), 2, 6, "the second column is the value at 2"),
        ((1, 6), 3, 7, "f(3) = f(1 ^ 2) = f(1) ^ f(2) = 1 ^ 6"),
        ((3, 6), 3, 5, "f(3) = f(1 ^ 2) = f(1) ^ f(2) = 3 ^ 6, in which the bit 2 cancels out"),
        ((5, 5, 8), 3, 0, "5 ^ 5 is 0"),
        ((), 0, 0, "a function of no bits"),
    ],
)
def test_values(columns: Columns, number: int, expected: int, because: str) -> None:
    calling(apply, columns, number).returns(expected, because)


@given(columns=functions(8), data=st.data())
def test_all_values(columns: Columns, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, (1 << len(columns)) - 1))
    calling(apply, columns, number).returns(
        values(columns)[number], f"the values at 0, 1, 2, ... are {values(columns)}"
    )


def test_compositions() -> None:
    calling(compose, (2, 4, 1), (1, 6)).returns((2, 5), "outer(1) = 2, and outer(6) = outer(2) ^ outer(4) = 4 ^ 1")
    calling(compose, (3, 2), ()).returns((), "a function of no bits")
    calling(compose, (0, 0, 7), (4, 3, 6)).returns((7, 0, 7))


@given(outer=functions(7, 5, 5), inner=functions(5))
def test_compositions_apply_one_function_after_the_other(outer: Columns, inner: Columns) -> None:
    table = values(outer)
    expected = tuple(table[column] for column in inner)
    calling(compose, outer, inner).returns(expected, f"the values of outer at 0, 1, 2, ... are {table}")


# --- inverses


@pytest.mark.parametrize(
    "columns, expected, because",
    [
        ((1, 2, 4), (1, 2, 4), "the identity is its own inverse"),
        ((4, 1, 2), (2, 4, 1), "f(2) = 1, f(4) = 2, f(1) = 4"),
        ((2, 3), (3, 1), "f(3) = 2 ^ 3 = 1, and f(1) = 2"),
        ((3, 2), (3, 2), "f(3) = 3 ^ 2 = 1, and f(2) = 2"),
        ((), (), "a function of no bits"),
    ],
)
def test_inverses(columns: Columns, expected: Columns, because: str) -> None:
    calling(invert, columns).returns(expected, because)


@pytest.mark.parametrize("columns", [(0,), (1, 1), (1, 0), (3, 5, 6), (1, 2, 4, 7), (2, 4, 6)])
def test_functions_without_an_inverse(columns: Columns) -> None:
    found = values(columns)
    one, other = next((a, b) for a, b in itertools.combinations(range(len(found)), 2) if found[a] == found[b])
    because = f"f({one}) = f({other}) = {found[one]}"
    calling(invert, columns).raises(ValueError, "no inverse", because=because)


@given(columns=st.integers(0, 6).flatmap(lambda bits: functions(bits, bits, bits)))
def test_any_small_function(columns: Columns) -> None:
    found = values(columns)
    if len(set(found)) < len(found):
        calling(invert, columns).raises(ValueError, "no inverse", because=f"its values repeat: {found}")
    else:
        expected = tuple(found.index(1 << bit) for bit in range(len(columns)))
        calling(invert, columns).returns(expected, f"the values at 0, 1, 2, ... are {found}")


def steps(bits: int, count: int, seed: int) -> tuple[Columns, Columns]:
    """A function and its inverse, from steps that add one bit to another or exchange two bits."""
    chosen = random.Random(seed)
    forward, back = ([1 << bit for bit in range(bits)] for _ in range(2))
    for _ in range(count):
        one, other = chosen.sample(range(bits), 2)
        if chosen.random() < 0.3:
            forward[one], forward[other] = forward[other], forward[one]
            back = [swapped(column, one, other) for column in back]
        else:
            forward[one] ^= forward[other]
            back = [column ^ (column >> one & 1) << other for column in back]
    return tuple(forward), tuple(back)


def swapped(number: int, one: int, other: int) -> int:
    """The number after two bits were exchanged."""
    differ = (number >> one ^ number >> other) & 1
    return number ^ (differ << one | differ << other)


@given(bits=st.sampled_from([2, 3, 8, 20, 40]), seed=st.integers(0, 1 << 16))
def test_inverses_of_long_functions(bits: int, seed: int) -> None:
    columns, expected = steps(bits, 3 * bits, seed)
    calling(invert, columns).returns(expected, "the function after its inverse is the identity")


@given(bits=st.sampled_from([2, 3, 8, 40]), seed=st.integers(0, 1 << 16), data=st.data())
def test_long_functions_without_an_inverse(bits: int, seed: int, data: st.DataObject) -> None:
    columns = list(steps(bits, 3 * bits, seed)[0])
    replaced, others = data.draw(st.integers(0, bits - 1)), data.draw(st.integers(0, (1 << bits) - 1))
    columns[replaced] = functools.reduce(
        operator.xor, (column for bit, column in enumerate(columns) if bit != replaced and others >> bit & 1), 0
    )
    because = f"column {replaced} is the sum of other columns"
    calling(invert, tuple(columns)).raises(ValueError, "no inverse", because=because)
    calling(is_independent, tuple(columns)).returns(False, because)


# --- independence


@pytest.mark.parametrize(
    "columns, expected, because",
    [
        ((), True, "there is no column that could be a sum"),
        ((5,), True, ""),
        ((0,), False, "0 is the sum of no columns"),
        ((1, 2, 4), True, ""),
        ((1, 2, 3), False, "3 = 1 ^ 2"),
        ((3, 2, 1), False, "3 = 2 ^ 1"),
        ((6, 1, 6), False, "the last is the first"),
        ((1, 6, 4), True, "the bit 4 is in two columns, but 6 is not 4"),
        ((1, 6, 7), False, "7 = 1 ^ 6"),
        ((3, 6, 12, 9), False, "9 = 3 ^ 6 ^ 12"),
        ((3, 6, 12, 8), True, ""),
        ((1, 2, 0), False, "0 is the sum of no columns"),
    ],
)
def test_independence(columns: Columns, expected: bool, because: str) -> None:
    calling(is_independent, columns).returns(expected, because)
    calling(is_independent, list(columns)).returns(expected, because)


@given(columns=functions(6))
def test_any_columns(columns: Columns) -> None:
    found = values(columns)
    because = f"all sums of columns, with that of no column: {found}"
    calling(is_independent, columns).returns(len(set(found)) == len(found), because)


@given(bits=st.sampled_from([8, 40]), seed=st.integers(0, 1 << 16))
def test_long_columns(bits: int, seed: int) -> None:
    columns, _ = steps(bits, 3 * bits, seed)
    calling(is_independent, columns[: bits - 3]).returns(True, "these are columns of a function that has an inverse")
