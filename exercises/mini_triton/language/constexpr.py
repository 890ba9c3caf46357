"""Values known at compile time, and arithmetic with them.

A kernel mixes two kinds of values: those of the running program, and those that the compiler knows, such as block
sizes. An operator between two compile-time values is computed by the compiler, now, in Python, and no operation is
built for it.

Source: `constexpr` in Triton's `python/triton/language/core.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["constexpr"]


class RunTimeValue:
    """A value known only when the kernel runs. It defines the operators between itself and a `constexpr`."""


def unwrap(value: Any) -> Any:
    """The Python value inside a `constexpr`; tuples and lists are unwrapped element by element. (Given.)"""
    if isinstance(value, constexpr):
        return value.value
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    return value


def evaluate(function: Callable[..., Any], *operands: Any) -> Any:
    """`function` of the operands, computed now: operands are constexprs or plain values, the result is a constexpr.

    With a `RunTimeValue` among the operands there is nothing to compute. Then the result is `NotImplemented`, by which
    Python knows that it has to ask the other operand's class.
    """
    # Task 4.4: `evaluate(operator.add, constexpr(2), 3)` is `constexpr(5)`. What `function` raises is passed on.
    # Given: `unwrap`.
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
    """A value that the compiler knows: a number, a string, a dtype, a function, a tuple of such, or None.

    As the annotation of a parameter, `BLOCK: tl.constexpr`, it says that the argument is one.
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
        """The truth of the value, so that `if constexpr:` chooses a branch at compile time."""
        # Task 4.4: False for `constexpr(0)`, True for `constexpr(8)`.
        raise NotImplementedError("Task 4.4: Compile-time values")

    def __index__(self) -> int:
        """The value as an int, so that Python accepts the box in `range(n)` and `shape[n]`."""
        # Task 4.4: 8 for `constexpr(8)`, 1 for `constexpr(True)`; TypeError for `constexpr(1.5)`. Given:
        # `operator.index`.
        raise NotImplementedError("Task 4.4: Compile-time values")

    def __hash__(self) -> int:
        return hash(self.value)
