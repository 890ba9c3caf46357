"""Task 12.2: index expressions, which stay simple."""

import itertools
import math

import numpy as np
import sympy
from hypothesis import assume, example, given
from hypothesis import strategies as st
from mini_triton.fusion.indexing import (
    Coordinate,
    Quotient,
    Remainder,
    divide,
    index_before,
    multiples_and_rest,
    ravel,
    remainder,
    unravel,
)

from tests.checks import calling

I0, I1, I2 = Coordinate("i0", 20), Coordinate("i1", 30), Coordinate("i2", 5)
S0 = sympy.Symbol("s0", integer=True, positive=True)
J = Coordinate("j", S0)
SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)


class Negative(Exception):
    """A negative operand. A kernel's `//` truncates, so its `//` and `%` are right only for non-negative numbers."""


def value(expr: sympy.Expr, at: dict[sympy.Symbol, int]) -> int:
    """An index expression as a number."""

    def not_negative(a: sympy.Expr) -> sympy.Expr:
        if a < 0:
            raise Negative
        return a

    plain = sympy.sympify(expr).xreplace({symbol: sympy.Integer(number) for symbol, number in at.items()})
    plain = plain.replace(Quotient, lambda a, b: not_negative(a) // b)
    return int(plain.replace(Remainder, lambda a, b: not_negative(a) % b))


def test_terms_are_parted() -> None:
    calling(multiples_and_rest, 30 * I0 + I1, sympy.Integer(10)).returns((3 * I0, I1))
    calling(multiples_and_rest, 10 * (I0 + I1) + 5, sympy.Integer(10)).returns(
        (I0 + I1, sympy.Integer(5)), "a product is multiplied out first"
    )
    calling(multiples_and_rest, S0 * I0 + I1, S0).returns((I0, I1), because="sizes may be symbols")


def test_quotients() -> None:
    because = "no Quotient is needed, because the part below 30 does not change the quotient"
    calling(divide, 30 * I0 + I1, sympy.Integer(30)).returns(I0, because)
    calling(divide, 60 * I0 + I1 + 30, sympy.Integer(30)).returns(2 * I0 + 1, because)
    calling(divide, I1, sympy.Integer(30)).returns(sympy.Integer(0), because)
    calling(divide, S0 * I0 + J, S0).returns(I0, "j < s0, whatever s0 is")
    calling(divide, 30 * I0 + I1, sympy.Integer(150)).returns(
        Quotient(I0, sympy.Integer(5)), "`quotient` knows that i1 does not matter"
    )
    calling(divide, 30 * I0 + I1, sympy.Integer(10)).returns(
        3 * I0 + Quotient(I1, sympy.Integer(10)), "i1 may be 10 and more, but 30 * i0 is a multiple of 10"
    )


def test_remainders() -> None:
    calling(remainder, 30 * I0 + I1, sympy.Integer(30)).returns(I1, "multiples of 30 leave no remainder")
    calling(remainder, 30 * I0 + I1, sympy.Integer(10)).returns(Remainder(I1, sympy.Integer(10)))
    calling(remainder, S0 * I0 + J, S0).returns(J, "j < s0, whatever s0 is")
    calling(remainder, 30 * I0, sympy.Integer(15)).returns(sympy.Integer(0), "15 divides 30")


@given(st.tuples(*[st.integers(-7, 12)] * 3), st.integers(0, 40), st.integers(1, 12))
@example((1, -1, 0), 29, 5)
@example((5, 0, 5), 3, 5)
@example((-5, 2, 0), 95, 5)
@example((0, -1, 0), 30, 5)
def test_the_value_is_right(factors: tuple[int, int, int], constant: int, by: int) -> None:
    expr = sum(factor * i for factor, i in zip(factors, (I0, I1, I2), strict=True)) + sympy.Integer(constant)
    corners = [dict(zip((I0, I1, I2), place, strict=True)) for place in itertools.product((0, 19), (0, 29), (0, 4))]
    assume(all(value(expr, at) >= 0 for at in corners))  # an index is never negative
    places = [
        dict(zip((I0, I1, I2), place, strict=True)) for place in itertools.product((0, 7, 19), (0, 9, 29), (0, 3))
    ]
    for function, meant in ((divide, lambda n: n // by), (remainder, lambda n: n % by)):
        call = calling(function, expr, sympy.Integer(by))
        got = call.succeeds("an index")
        for at in places:
            number = value(expr, at)
            where = ", ".join(f"{symbol} = {n}" for symbol, n in at.items())
            try:
                found = value(got, at)
            except Negative:
                call.fail(f"quotients of numbers that are not negative, for {where}", got, "a kernel rounds toward 0")
            if found != meant(number):
                call.fail(f"{meant(number)} for {where}", f"{got}, which is {found}", f"{expr} is {number}")


@given(SHAPES)
@example((1, 3, 1, 4))
@example((5,))
@example((1, 1))
def test_unravel_is_the_inverse_of_ravel(shape: tuple[int, ...]) -> None:
    index = tuple(sympy.Integer(0) if n == 1 else Coordinate(f"i{axis}", n) for axis, n in enumerate(shape))
    calling(unravel, ravel(index, shape), shape).returns(index, f"each i is below its size in {shape}")


@given(SHAPES, st.data())
def test_unravel_is_numpys(shape: tuple[int, ...], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, math.prod(shape) - 1))
    flat = Coordinate("p", math.prod(shape))
    call = calling(unravel, flat, shape)
    got = tuple(value(i, {flat: number}) for i in call.succeeds("an index"))
    expected = tuple(map(int, np.unravel_index(number, shape)))
    if got != expected:
        call.fail(f"{expected} for p = {number}", got, "NumPy's unravel_index gives this index")


@given(SHAPES, st.data())
def test_unravel_of_a_number(shape: tuple[int, ...], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, math.prod(shape) - 1))
    expected = tuple(map(int, np.unravel_index(number, shape)))
    calling(unravel, sympy.Integer(number), shape).returns(expected, "NumPy's unravel_index gives this index")


def test_a_reshape_to_the_same_shape() -> None:
    for index, shape in (((I0, I2 - 2), (20, 5)), ((Coordinate("i", 1), I2), (1, 5))):
        calling(index_before, index, shape, shape).returns(index, "the shapes are equal, so nothing is computed")


def test_symbolic_shapes() -> None:
    x, y = Coordinate("x", S0 * 12), Coordinate("y", S0)
    calling(unravel, ravel((I0, y), (20, S0)), (20, S0)).returns((I0, y), "y < s0")
    calling(unravel, x, (S0, sympy.Integer(12))).returns(
        (Quotient(x, sympy.Integer(12)), Remainder(x, sympy.Integer(12))), "x is below 12 * s0"
    )


def test_the_first_dimension_needs_no_remainder() -> None:
    v, two, three = sympy.Symbol("v", integer=True, nonnegative=True), sympy.Integer(2), sympy.Integer(3)
    expected = Quotient(v, three), Remainder(v, three)
    calling(unravel, v, (two, three)).returns(expected, "v is below 6, so v // 3 is below 2")
    because = "v // 3 is below 2, and the dimension before it has size 1"
    calling(unravel, v, (sympy.Integer(1), two, three)).returns((sympy.Integer(0), *expected), because)
