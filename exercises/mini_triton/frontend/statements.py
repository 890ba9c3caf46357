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
        # Task 5.2: A `Return` ends it, all others are visited. But an `If` is handed the statements after it, which
        # `visit` cannot do: so tell the builder where it is (`self.builder.location`), as `visit` does.
        raise NotImplementedError("Task 5.2: Expressions")

    def visit_Return(self, node: ast.Return) -> Any:
        # Task 5.3: The value, or None as a `constexpr`. Inside a loop (`self.in_loop`) an error that has the words
        # "Cannot have `return` statements inside `while` or `for` statements".
        raise NotImplementedError("Task 5.3: Assignments and calls of kernels")

    def visit_Assign(self, node: ast.Assign) -> None:
        # Task 5.3: One target only: "simultaneous multiple assignment is not supported". Then `assign`.
        raise NotImplementedError("Task 5.3: Assignments and calls of kernels")

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or several to the elements of a tuple, however nested.

        A number that is given a name is no literal any more but a tensor, also in a tuple. Texts and functions get no
        names.
        """
        # Task 5.3: A `Name`: `evaluate` the value's `run_time`, then `self.scope.bind`; what is not `can_be_named` is
        # refused. A `Tuple`: the value must be a tuple of as many elements, or the error names both numbers. Others are
        # refused: "__setitem__ is not supported" for a `Subscript`, "Attribute assignment is not supported" for an
        # `Attribute`, and the rest is unsupported.
        raise NotImplementedError("Task 5.3: Assignments and calls of kernels")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`X: tl.constexpr = 4` keeps a number a compile-time value. Other annotations mean nothing."""
        # Task 5.4: If the annotation's text (`ast.unparse`) has "constexpr" in it: the name must be new ("... is
        # already defined. constexpr cannot be reassigned."), and the value no tensor. Otherwise it is an assignment
        # like any other. Without a value there is nothing to do.
        raise NotImplementedError("Task 5.4: What the compiler decides")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`x += y`"""
        # Task 5.3: The same as `x = x + y`: make those nodes and visit them. `ast.copy_location` gives a new node the
        # place of an old one; and the name that is read is a `Load`.
        raise NotImplementedError("Task 5.3: Assignments and calls of kernels")

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect, or a docstring. (Given.)"""
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        """(Given.)"""

    def visit_Assert(self, node: ast.Assert) -> None:
        """`assert condition, "message"` is a `tl.device_assert`. (Given.)"""
        message = self.visit(node.msg) if node.msg else constexpr("")
        self.evaluate(node, tl.device_assert, self.visit(node.test), message)
