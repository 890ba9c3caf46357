"""The names that source code reads and writes, and their values.

SSA values never change, but the values of names do. Therefore, the front end must know, before it compiles a loop,
which names the body assigns. The loop carries the assigned names that already have a value.

Triton finds these names by visiting a loop's body twice (`visit_For` in `code_generator.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from mini_triton.errors import Loc
from mini_triton.language.tensor import tensor


def written(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are assigned anywhere inside these nodes, each once, in source order."""
    # [task 5.1] For `for i in range(n): x += i`, return `["i", "x"]`. Every statement and expression with which Python
    # assigns a name counts, even `(y := 1)`, which kernels cannot use. Given: `_names`, `_in_order`.
    return _in_order(name for name in _names(nodes) if isinstance(name.ctx, ast.Store))
    # [end]


def read(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are read anywhere inside these nodes, each once, in source order."""
    # [task 5.1] For `x[i] = y`, return `["x", "i", "y"]`. `nodes` may be an iterator.
    nodes = list(nodes)
    loads = [name for name in _names(nodes) if isinstance(name.ctx, ast.Load)]
    updates = [node.target for top in nodes for node in ast.walk(top) if isinstance(node, ast.AugAssign)]
    return _in_order([*loads, *(target for target in updates if isinstance(target, ast.Name))])
    # [end]


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    """Every occurrence of a name inside these nodes. (Given.)"""
    return [name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name)]


def _in_order(names: Iterable[ast.Name]) -> list[str]:
    """Names in source order, each once. (Given.)"""
    return list(dict.fromkeys(name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))))


class Scope:
    """The local names of a function, with their values and the locations of their assignments. (Given.)

    A name can also be *lost*: it was assigned on only some control-flow paths. Then `lost` holds the reason.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.places: dict[str, Loc] = {}
        self.lost: dict[str, str] = {}

    def copy(self) -> Scope:
        """A copy of the scope, for a block that may rebind names."""
        other = Scope()
        other.values, other.places, other.lost = dict(self.values), dict(self.places), dict(self.lost)
        return other

    def bind(self, name: str, value: Any, place: Loc) -> None:
        """Bind a name to a value. The printed IR uses the name, unless the value already has a name."""
        if isinstance(value, tensor) and not value.handle.name:
            value.handle.name = name
        self.values[name] = value
        self.places[name] = place
        self.lost.pop(name, None)

    def lose(self, name: str, reason: str, place: Loc) -> None:
        """Remove a name's value. The error for reading it contains `reason`: "it has a value only in ..."."""
        self.values.pop(name, None)
        self.places[name] = place
        self.lost[name] = reason
