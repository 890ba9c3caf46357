"""Names: which of them a piece of source reads and writes, and their values.

SSA values never change, names do. So before a loop is compiled it must be known which names its body gives new values:
the loop carries those that had a value before.

Triton finds the same by visiting a loop's body twice (`visit_For` in `code_generator.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from mini_triton.errors import Loc
from mini_triton.language.tensor import tensor


def written(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that get a value anywhere inside these nodes, each once, in the order of the text."""
    # Task 5.1: For `for i in range(n): x += i` they are `i` and `x`: the targets of `=`, `+=`, `:=` and `for`.
    # Given: `_names`, `_in_order`.
    raise NotImplementedError("Task 5.1: Names that are read and written")


def read(nodes: Iterable[ast.AST]) -> list[str]:
    """The names whose value is used anywhere inside these nodes, each once, in the order of the text."""
    # Task 5.1: For `x += y` they are `x` and `y`. `nodes` may be an iterator.
    raise NotImplementedError("Task 5.1: Names that are read and written")


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    """Every name that is mentioned. (Given.)"""
    return [name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name)]


def _in_order(names: Iterable[ast.Name]) -> list[str]:
    """Names in the order of the text, each once. (Given.)"""
    return list(dict.fromkeys(name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))))


class Scope:
    """The local names of a function: their values, and where they got them. (Given.)

    A name can also be *lost*: it got a value on only some control-flow paths. Then `lost` has the reason instead.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.places: dict[str, Loc] = {}
        self.lost: dict[str, str] = {}

    def copy(self) -> Scope:
        """The same names, for a block that binds some of them anew."""
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

    def lose(self, name: str, reason: str, place: Loc) -> None:
        """Take a name's value away; `reason` goes into the error for reading it: "it has a value only in ..."."""
        self.values.pop(name, None)
        self.places[name] = place
        self.lost[name] = reason
