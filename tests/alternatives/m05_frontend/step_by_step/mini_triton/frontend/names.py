"""Which names a piece of source reads and writes.

SSA values never change, names do. So before a loop is compiled it must be known which names its body gives new values:
those that had a value before are what the loop carries.

Triton finds the same by visiting a loop's body twice (`visit_For` in `code_generator.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable


def written(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that get a value anywhere inside these nodes, each once, in the order of the text."""
    found = []
    for name in _names(nodes):
        if isinstance(name.ctx, ast.Store):
            found.append(name)
    return _in_order(found)


def read(nodes: Iterable[ast.AST]) -> list[str]:
    """The names whose value is used anywhere inside these nodes, each once, in the order of the text."""
    found = []
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                if isinstance(inner.ctx, ast.Load):
                    found.append(inner)
            if isinstance(inner, ast.AugAssign):
                if isinstance(inner.target, ast.Name):
                    found.append(inner.target)
    return _in_order(found)


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    """Every name that is mentioned. (Given.)"""
    return [name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name)]


def _in_order(names: Iterable[ast.Name]) -> list[str]:
    """Names in the order of the text, each once. (Given.)"""
    return list(dict.fromkeys(name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))))
