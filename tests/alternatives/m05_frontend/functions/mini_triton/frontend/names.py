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
    return _in_order(filter(lambda name: isinstance(name.ctx, ast.Store), _names(nodes)))


def read(nodes: Iterable[ast.AST]) -> list[str]:
    """The names whose value is used anywhere inside these nodes, each once, in the order of the text."""

    class Reader(ast.NodeVisitor):
        def visit_Name(self, node: ast.Name) -> None:
            if isinstance(node.ctx, ast.Load):
                names.append(node)

        def visit_AugAssign(self, node: ast.AugAssign) -> None:
            if isinstance(node.target, ast.Name):
                names.append(node.target)
            self.generic_visit(node)

    names: list[ast.Name] = []
    for node in nodes:
        Reader().visit(node)
    return _in_order(names)


def _names(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    """Every name that is mentioned. (Given.)"""
    return [name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name)]


def _in_order(names: Iterable[ast.Name]) -> list[str]:
    """Names in the order of the text, each once. (Given.)"""
    return list(dict.fromkeys(name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))))
