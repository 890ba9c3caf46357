"""Values known at compile time, and arithmetic with them.

A kernel mixes run-time values with compile-time values, such as block sizes. The compiler evaluates an operator on two
compile-time values immediately, in Python, and builds no operation.

Source: `constexpr` in Triton's `python/triton/language/core.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["constexpr"]


class RunTimeValue:
    """A value known only when the kernel runs. Its class defines the operators between it and a `constexpr`."""


def unwrap(value: Any) -> Any:
    """The Python value inside a `constexpr`; tuples and lists are unwrapped element by element. (Given.)"""
    if isinstance(value, constexpr):
        return value.value
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    return value


def evaluate(function: Callable[..., Any], *operands: Any) -> Any:
    """Call `function` on the operands' values, and return the result as a constexpr.

    An operand is a constexpr, a plain value or a `RunTimeValue`, whose value is unknown. If any operand is a
    `RunTimeValue`, leave the operator to the method of that operand.
    """
    # Task 4.4: `evaluate(operator.add, constexpr(2), 3)` returns `constexpr(5)`. Errors of `function` propagate. The
    # operators below return what you return: which value makes Python call `n.__rmul__(BLOCK)` for `BLOCK * n`?
    raise NotImplementedError("Task 4.4: Compile-time values")


Method = Callable[["constexpr", Any], Any]


def both_ways(function: Callable[[Any, Any], Any]) -> tuple[Method, Method]:
    """The methods for `self op other` and `other op self`. (Given.)"""

    def method(self: constexpr, other: Any) -> Any:
        return evaluate(function, self, other)

    def reflected(self: constexpr, other: Any) -> Any:
        return evaluate(function, other, self)

    return method, reflected


class constexpr:
    """A compile-time value: a number, a string, a dtype, a function, a tuple of these, or None.

    Used as a parameter's annotation (`BLOCK: tl.constexpr`), the class makes the argument a compile-time value.
    """

    value: Any

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value!r}]"

    __add__, __radd__ = both_ways(operator.add)
    __sub__, __rsub__ = both_ways(operator.sub)
    __mul__, __rmul__ = both_ways(operator.mul)
    __truediv__, __rtruediv__ = both_ways(operator.truediv)
    __floordiv__, __rfloordiv__ = both_ways(operator.floordiv)
    __mod__, __rmod__ = both_ways(operator.mod)
    __pow__, __rpow__ = both_ways(operator.pow)
    __and__, __rand__ = both_ways(operator.and_)
    __or__, __ror__ = both_ways(operator.or_)
    __xor__, __rxor__ = both_ways(operator.xor)
    __lshift__, __rlshift__ = both_ways(operator.lshift)
    __rshift__, __rrshift__ = both_ways(operator.rshift)

    __eq__, _ = both_ways(operator.eq)
    __ne__, _ = both_ways(operator.ne)
    __lt__, _ = both_ways(operator.lt)
    __le__, _ = both_ways(operator.le)
    __gt__, _ = both_ways(operator.gt)
    __ge__, _ = both_ways(operator.ge)

    def __neg__(self) -> constexpr:
        return evaluate(operator.neg, self)

    def __pos__(self) -> constexpr:
        return evaluate(operator.pos, self)

    def __invert__(self) -> constexpr:
        return evaluate(operator.invert, self)

    def __bool__(self) -> bool:
        """Whether the value counts as true, so that an `if` on a constexpr can choose its branch at compile time."""
        # Task 4.4: Return False for `constexpr(0)`, and True for `constexpr(8)`.
        raise NotImplementedError("Task 4.4: Compile-time values")

    def __index__(self) -> int:
        """The value as an int, so that Python accepts a constexpr `n` in `range(n)` and `shape[n]`."""
        # Task 4.4: Return 8 for `constexpr(8)`, and 1 for `constexpr(True)`; raise TypeError for `constexpr(1.5)`.
        raise NotImplementedError("Task 4.4: Compile-time values")

    def __hash__(self) -> int:
        return hash(self.value)
