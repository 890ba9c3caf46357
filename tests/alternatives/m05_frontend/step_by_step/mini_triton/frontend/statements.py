"""Statements: assignments, returns, and blocks of them.

Source: `visit_Assign`, `visit_AnnAssign` and `visit_Return` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import mini_triton.language as tl
from mini_triton.errors import UnsupportedLanguageConstruct
from mini_triton.frontend.calls import NOTHING
from mini_triton.frontend.loops import Loops
from mini_triton.frontend.values import can_be_named, run_time
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.tensor import tensor


class Statements(Loops):
    """Visits statements: with all that is below it, a whole function."""

    def run(self, statements: Sequence[ast.stmt]) -> Any:
        """Visit statements one by one. The value that they return if they do, or `NOTHING`.

        What comes after an `if` depends on it, so `visit_If` gets the rest and returns what that returns.
        """
        number = 0
        while number < len(statements):
            statement = statements[number]
            number += 1
            if isinstance(statement, ast.Return):
                return self.visit_Return(statement)
            elif isinstance(statement, ast.If):
                rest = statements[number:]
                with self.builder.location(self.loc(statement)):
                    return self.visit_If(statement, rest)
            else:
                self.visit(statement)
        return NOTHING

    def visit_Return(self, node: ast.Return) -> Any:
        if self.in_loop:
            raise UnsupportedLanguageConstruct(
                "Cannot have `return` statements inside `while` or `for` statements", self.loc(node)
            )
        if node.value is None:
            return constexpr(None)
        value = self.visit(node.value)
        return value

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise self.error(node.targets[1], "simultaneous multiple assignment is not supported")
        value = self.visit(node.value)
        target = node.targets[0]
        self.assign(target, value)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or several to the elements of a tuple, however nested.

        A number that is given a name is no literal any more but a tensor, also in a tuple. Texts and functions get no
        names.
        """
        if isinstance(target, ast.Attribute):
            raise self.error(target, "Attribute assignment is not supported")
        if isinstance(target, ast.Subscript):
            raise self.error(target, "__setitem__ is not supported")
        if isinstance(target, ast.Name):
            value = self.evaluate(target, run_time, value)
            if not can_be_named(value):
                raise self.error(target, f"{unwrap(value)!r} cannot have a name")
            self.scope.bind(target.id, value, self.loc(target))
            return
        if not isinstance(target, ast.Tuple):
            raise self.unsupported(target, target)
        if not isinstance(value, tuple):
            raise self.error(target, f"this is no tuple: {value!r}")
        wanted = len(target.elts)
        if wanted != len(value):
            raise self.error(target, f"there are {wanted} names, but {len(value)} values")
        for number in range(wanted):
            self.assign(target.elts[number], value[number])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`X: tl.constexpr = 4` keeps a number a compile-time value. Other annotations mean nothing."""
        if node.value is None:
            return
        is_constant = "constexpr" in ast.unparse(node.annotation)
        value = self.visit(node.value)
        if not is_constant:
            self.assign(node.target, value)
        else:
            if not isinstance(node.target, ast.Name):
                raise self.error(node.target, "a constexpr needs a name")
            if node.target.id in self.scope.values:
                raise self.error(node.target, f"{node.target.id} is already defined. constexpr cannot be reassigned.")
            if isinstance(value, tensor):
                raise self.error(node.target, f"{node.target.id} cannot be {value!r}, which nobody knows yet")
            if not isinstance(value, tuple):
                value = constexpr(value)
            self.scope.bind(node.target.id, value, self.loc(node.target))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`x += y`"""
        if isinstance(node.target, ast.Name):
            old = ast.Name(id=node.target.id, ctx=ast.Load())
            ast.copy_location(old, node.target)
            new = ast.BinOp(left=old, op=node.op, right=node.value)
            ast.copy_location(new, node)
            value = self.visit(new)
            self.assign(node.target, value)
        else:
            raise self.error(node, "only a name can be updated")

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect, or a docstring. (Given.)"""
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        """(Given.)"""

    def visit_Assert(self, node: ast.Assert) -> None:
        """`assert condition, "message"` is a `tl.device_assert`. (Given.)"""
        message = self.visit(node.msg) if node.msg else constexpr("")
        self.evaluate(node, tl.device_assert, self.visit(node.test), message)
