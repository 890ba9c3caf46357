"""Names and what they stand for, at one point of a function. (Given.)"""

from __future__ import annotations

from typing import Any

from mini_triton.errors import Loc
from mini_triton.language.tensor import tensor


class Scope:
    """The local names of a function: their values, and where they got them.

    A name can also be *lost*: it got a value on a way that not every run takes. Then there is a reason instead.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.places: dict[str, Loc] = {}
        self.lost: dict[str, str] = {}

    def copy(self) -> Scope:
        """The same names, for a branch that binds some of them anew."""
        other = Scope()
        other.values, other.places, other.lost = dict(self.values), dict(self.places), dict(self.lost)
        return other

    def bind(self, name: str, value: Any, place: Loc) -> None:
        """Give a name a value. The printed IR will call it so, unless it has a name already."""
        if isinstance(value, tensor) and not value.handle.name:
            value.handle.name = name
        self.values[name] = value
        self.places[name] = place
        self.lost.pop(name, None)

    def lose(self, name: str, reason: str) -> None:
        """Take a name's value; `reason` is what to tell who asks for it: "x has a value only if ..."."""
        self.values.pop(name, None)
        self.lost[name] = reason
