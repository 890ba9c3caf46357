"""Polynomials with integer coefficients, over the variables of generated code. (Given.)

n = Polynomial.of(Name("n"))
n * (n - 1)                        prints as n * n + -n
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

from mini_triton.codegen.numba_gen.expressions import Apply, Expression, Name, Number, add, apply

Product = tuple[Expression, ...]
"""Factors in the order of their texts."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of products, each with a coefficient that is not 0. Add and multiply polynomials like numbers."""

    terms: dict[Product, int]

    @classmethod
    def of(cls, value: Polynomial | Expression | str | int) -> Polynomial:
        """The polynomial for a number, or for an expression or a name as its only variable."""
        if isinstance(value, Polynomial):
            return value
        if isinstance(value, Number):
            value = int(value.value)
        if isinstance(value, int):
            return cls({(): value} if value else {})
        return cls({(Name(value) if isinstance(value, str) else value,): 1})

    def __add__(self, other: Polynomial | int) -> Polynomial:
        terms = dict(self.terms)
        for product, count in Polynomial.of(other).terms.items():
            terms[product] = terms.get(product, 0) + count
        return Polynomial({product: count for product, count in terms.items() if count})

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        result = Polynomial({})
        for left, count in self.terms.items():
            for right, times in Polynomial.of(other).terms.items():
                result += Polynomial({tuple(sorted(left + right, key=str)): count * times})
        return result

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + Polynomial.of(other) * -1

    def __rsub__(self, other: int) -> Polynomial:
        return Polynomial.of(other) - self

    __radd__, __rmul__ = __add__, __mul__

    @property
    def number(self) -> int | None:
        """The value if the polynomial has no variables."""
        return None if any(self.terms) else self.terms.get((), 0)

    @property
    def is_natural(self) -> bool:
        """Whether the polynomial is a number that is not negative."""
        return self.number is not None and self.number >= 0

    def expression(self) -> Expression:
        """The expression that computes the value."""
        return add(*(_term(product, count) for product, count in self.terms.items()))

    def __str__(self) -> str:
        return str(self.expression())


def _term(product: Product, count: int) -> Expression:
    if not product:
        return Number(count)
    factors = product if count == 1 else (Number(count), *product)
    if count == -1:
        factors = (Apply("negative", product[:1]), *product[1:])
    return factors[0] if len(factors) == 1 else Apply("*", factors)


def _chosen(name: str, first_wins: Callable[[int, int], bool]) -> Callable[..., Polynomial]:
    def choose(first: Polynomial | int, second: Polynomial | int) -> Polynomial:
        one, other = Polynomial.of(first), Polynomial.of(second)
        distance = (other - one).number
        if distance is None:
            return Polynomial.of(apply(name, one.expression(), other.expression()))
        return one if first_wins(0, distance) else other

    return choose


least, greatest = _chosen("min", operator.le), _chosen("max", operator.ge)
"""The smaller and the larger of two polynomials; generated code compares them if the difference is not known."""
