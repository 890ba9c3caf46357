"""Index expressions: which element of a tensor each step of a loop reads.

An index is an arithmetic expression over *coordinates*: `30 * i0 + i1` with `0 <= i0 < 20` and `0 <= i1 < 30`. A view
changes the index and moves no data: a transposition swaps coordinates; a reshape combines coordinates into one number
and splits this number again. Two indices are recognized as equal only if they are written alike, so quotients and
remainders are simplified on creation. Sizes may be symbols (`s0`), so that one graph serves every size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import sympy
from sympy.logic.boolalg import BooleanAtom
from torch.utils._sympy.printers import PythonPrinter

Size = Any
Index = tuple[Any, ...]


class Coordinate(sympy.Symbol):
    """The position along one dimension of a loop nest: at least 0, and less than the dimension's size."""

    size: sympy.Expr
    reduced: bool

    def __new__(cls, name: str, size: Any, reduced: bool = False) -> Coordinate:
        self = sympy.Symbol.__xnew__(cls, name, integer=True, nonnegative=True)
        self.size = sympy.sympify(size)
        self.reduced = reduced
        return self

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.size, self.reduced)


one_coordinate = functools.cache(Coordinate)
"""The coordinate with these arguments, as one object. Indices of the same objects are compared quickly."""


class Quotient(sympy.Function):
    """`a // b` of nonnegative numbers, if no simpler form is known. The quotient of two integers is an integer."""

    is_integer = is_nonnegative = True

    @classmethod
    def eval(cls, a: sympy.Expr, b: sympy.Expr) -> sympy.Expr | None:
        return sympy.Integer(a // b) if a.is_Integer and b.is_Integer and a >= 0 else None


class Remainder(sympy.Function):
    """`a % b` of nonnegative numbers, if no simpler form is known. The remainder of two integers is an integer."""

    is_integer = is_nonnegative = True

    @classmethod
    def eval(cls, a: sympy.Expr, b: sympy.Expr) -> sympy.Expr | None:
        return sympy.Integer(a % b) if a.is_Integer and b.is_Integer and a >= 0 else None


def numel(shape: Sequence[Size]) -> sympy.Expr:
    """The number of elements of a shape."""
    return sympy.expand(math.prod(shape, start=sympy.Integer(1)))


def bounds(expr: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """A lower and an upper bound of the expression. (Given.)"""
    zero = sympy.Integer(0)
    if isinstance(expr, Coordinate):
        return zero, expr.size - 1
    if isinstance(expr, Remainder):
        return zero, expr.args[1] - 1
    if isinstance(expr, Quotient):
        multiples, rest = multiples_and_rest(bounds(expr.args[0])[1] + 1, expr.args[1])
        return zero, multiples - 1 if rest == 0 else multiples + Quotient(rest, expr.args[1])
    if isinstance(expr, sympy.Add):
        lows, highs = zip(*map(bounds, expr.args), strict=True)
        return sympy.Add(*lows), sympy.Add(*highs)
    if isinstance(expr, sympy.Mul) and expr.could_extract_minus_sign():
        low, high = bounds(-expr)
        return -high, -low
    if isinstance(expr, sympy.Mul):
        lows, highs = zip(*map(bounds, expr.args), strict=True)
        return sympy.Mul(*lows), sympy.Mul(*highs)
    return expr, expr


def is_within(expr: sympy.Expr, size: sympy.Expr) -> bool:
    """Whether `0 <= expr < size` is known to hold. (Given.)"""
    low, high = bounds(expr)
    return bool(low.is_nonnegative) and bool(sympy.expand(size - 1 - high).is_nonnegative)


@functools.cache
def multiples_and_rest(expr: sympy.Expr, by: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """The pair (`multiples`, `rest`), such that `expr` is `by * multiples + rest`, and `by` divides no term of `rest`.

    `30 * i0 + i1` split by 10 is `(3 * i0, i1)`, and `10 * (i0 + i1) + 5` split by 10 is `(i0 + i1, 5)`.
    """
    if isinstance(by, sympy.Add):  # a size such as s0 + 3: division of polynomials (given)
        return sympy.div(sympy.expand(expr), by, *by.free_symbols)
    # Task 12.2: Sizes may be symbols: `s0 * i0 + i1` split by `s0` is `(i0, i1)`. Given: `is_whole`.
    raise NotImplementedError("Task 12.2: Views")


def is_whole(quotient: sympy.Expr) -> bool:
    """Whether a quotient of integers is known to be an integer. (Given.)"""
    return bool(quotient.is_integer)


@functools.cache
def divide(expr: sympy.Expr, by: sympy.Expr) -> sympy.Expr:
    """`expr // by`, simplified: `(30 * i0 + i1) // 30` is `i0` if `i1 < 30`, and `3 * i0 + i1 // 10` if `by` is 10.

    Whatever cannot be simplified becomes a `quotient`, whose operands must not be negative. You may assume that neither
    `expr` nor `by` is negative; terms of `expr` may be negative.
    """
    # Task 12.2: `(30 * i0 - i1) // 30` is not `i0`, but `(30 * i0 + 29 - i1) // 30` is, if `i1 < 30`.
    raise NotImplementedError("Task 12.2: Views")


def quotient(expr: sympy.Expr, by: sympy.Expr) -> sympy.Expr:
    """A `Quotient` without common factors: `(9 * i0 + i1) // 45` is `i0 // 5` if `i1 < 9`. (Given.)"""
    for term in sympy.Add.make_args(expr):
        factor = sympy.gcd(term, by)
        multiples, rest = multiples_and_rest(expr, factor)
        if factor != 1 and multiples != 0 and is_within(rest, factor):
            return quotient(multiples, by / factor)
    return Quotient(expr, by)


@functools.cache
def remainder(expr: sympy.Expr, by: sympy.Expr) -> sympy.Expr:
    """`expr % by`, simplified: `(30 * i0 + i1) % 30` is `i1` if `i1 < 30`, and `i1 % 10` if `by` is 10.

    Whatever cannot be simplified becomes a `Remainder`, whose operands must not be negative. You may assume that
    neither `expr` nor `by` is negative; terms of `expr` may be negative.
    """
    # Task 12.2: `(30 * i0 - i1) % 30` stays as it is.
    raise NotImplementedError("Task 12.2: Views")


def strides_of(shape: Sequence[Size]) -> list[sympy.Expr]:
    """The strides of a contiguous tensor: (30, 1) for the shape (20, 30)."""
    return [numel(shape[axis + 1 :]) for axis in range(len(shape))]


def ravel(index: Sequence[sympy.Expr], shape: Sequence[Size]) -> sympy.Expr:
    """Flatten an index: its position in row-major order."""
    return join(sympy.Add(*(i * stride for i, stride in zip(index, strides_of(shape), strict=True))))


@functools.cache
def join(expr: sympy.Expr) -> sympy.Expr:
    """Join quotients and remainders: 30 * (p // 30) + p % 30 is p. (Given.)"""
    expr = sympy.expand(expr)
    for rest in expr.atoms(Remainder):
        number, by = rest.args
        quotients = [Quotient(number, by)]
        if isinstance(number, Quotient):
            quotients.append(Quotient(number.args[0], sympy.expand(number.args[1] * by)))
        factor = expr.coeff(rest)
        for quotient in quotients:
            if factor != 0 and sympy.expand(expr.coeff(quotient) - factor * by) == 0:
                return join(expr + factor * (number - rest - by * quotient))
    return expr


def unravel(flat: sympy.Expr, shape: Sequence[Size]) -> Index:
    """The index at a position in row-major order: the inverse of `ravel`.

    Position 47 in the shape (20, 30) has the index (1, 17). `unravel(v, (1, 4, 3))` is `(0, v // 3, v % 3)`, because
    `flat` is always less than the number of elements.
    """
    # Task 12.2: A size may be an int, but operands of `divide` and `remainder` are expressions: `sympify` converts it.
    raise NotImplementedError("Task 12.2: Views")


@functools.cache
def index_before(index: Index, shape: Sequence[Size], old: Sequence[Size]) -> Index:
    """The index, before a reshape from the shape `old` to `shape`, of the element that the reshape moves to `index`.

    In the shapes (5, 12) and (60,), element (27,) was element (2, 3).
    """
    # Task 12.2: If the shapes are equal, the index does not change, even if it could be simplified.
    raise NotImplementedError("Task 12.2: Views")


def broadcast_index(index: Index, shape: Sequence[Size]) -> Index:
    """The index, in a tensor of this shape, of the element that broadcasting repeats at `index`. (Given.)

    Element (2, 3, 4) of the result comes from element (3, 0) of a tensor of shape (7, 1).
    """
    aligned = index[len(index) - len(shape) :]
    return tuple(sympy.Integer(0) if size == 1 else i for i, size in zip(aligned, shape, strict=True))


def sympify(size: Any) -> sympy.Expr:
    """Convert a size to an expression. The size is an int, a symbolic size of PyTorch, or an expression. (Given.)

    A comparison of sizes whose result is known becomes 0 or 1.
    """
    expr = size.node.expr if hasattr(size, "node") else sympy.sympify(size)
    return sympy.Integer(bool(expr)) if isinstance(expr, BooleanAtom) else expr


def write(expr: sympy.Expr) -> str:
    """The expression as Python: `30 * i0 + i1 % 7`. (Given.)"""
    if isinstance(expr, Quotient):
        return f"{_factor(expr.args[0])} // {_factor(expr.args[1])}"
    if isinstance(expr, Remainder):
        return f"{_factor(expr.args[0])} % {_factor(expr.args[1])}"
    if isinstance(expr, sympy.Add):
        terms = sorted(map(write, expr.args), key=lambda term: (term.startswith("-"), term.lstrip("-").isdigit(), term))
        return " + ".join(terms).replace("+ -", "- ")
    if isinstance(expr, sympy.Mul):
        sign = "-" if expr.could_extract_minus_sign() else ""
        factors = (-expr if sign else expr).as_ordered_factors()
        return sign + " * ".join(map(_factor, factors))
    if isinstance(expr, sympy.Pow) and expr.exp.is_Integer and expr.exp > 0:
        return " * ".join([_factor(expr.base)] * int(expr.exp))
    if isinstance(expr, sympy.Symbol | sympy.Integer):
        return str(expr)
    return f"({expr})"


def write_for_host(expr: sympy.Expr) -> str:
    """The expression as Python that runs before a launch. The expression may use any function of symbolic sizes."""
    return PythonPrinter().doprint(expr)


def _factor(expr: sympy.Expr) -> str:
    return bracket(write(expr))


def bracket(text: str) -> str:
    """The source of an expression as an operand, in parentheses if needed."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"
