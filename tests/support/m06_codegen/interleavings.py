"""Atomic operations in some order: whether what they read and what they leave in memory is possible at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Step = Callable[[Any, Any], Any]
"""What an operation makes of what it reads and of what it is given."""


def _unsigned(x: Any) -> Any:
    return x.view(f"u{x.dtype.itemsize}")


def _wrapping(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return x + y


MEANINGS: dict[str, Step] = {
    "add": _wrapping,
    "fadd": _wrapping,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "max": lambda x, y: max(x, y),
    "min": lambda x, y: min(x, y),
    "umax": lambda x, y: max(x, y, key=_unsigned),
    "umin": lambda x, y: min(x, y, key=_unsigned),
    "exch": lambda x, y: y,
}


def swap(x: Any, pair: Any) -> Any:
    """Compare and swap: what is given is what is expected, and what is to be written then."""
    expected, new = pair
    return new if x.tobytes() == expected.tobytes() else x


def possible(step: Step, before: Any, after: Any, given: Sequence[Any], read: Sequence[Any]) -> bool:
    """Whether the operations on one element can have been made one after the other, in any order."""

    def goes_on(memory: Any, left: tuple[int, ...]) -> bool:
        if not left:
            return memory.tobytes() == after.tobytes()
        now = [i for i in left if read[i].tobytes() == memory.tobytes()]
        results = {i: np.asarray(step(memory, given[i]), memory.dtype)[()] for i in now}
        idle = tuple(i for i in now if results[i].tobytes() == memory.tobytes())  # their turn may be now
        if idle:
            return goes_on(memory, tuple(i for i in left if i not in idle))
        different = {results[i].tobytes(): i for i in now}.values()
        return any(goes_on(results[i], tuple(j for j in left if j != i)) for i in different)

    return goes_on(before, tuple(range(len(given))))
