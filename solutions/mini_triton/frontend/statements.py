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
        # [task 5.2] A `Return` ends it, all others are visited. But an `If` is handed the statements after it, which
        # `visit` cannot do: so tell the builder where it is (`self.builder.location`), as `visit` does.
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return self.visit(statement)
            if isinstance(statement, ast.If):
                with self.builder.location(self.loc(statement)):
                    return self.visit_If(statement, statements[i + 1 :])
            self.visit(statement)
        return NOTHING
        # [end]

    def visit_Return(self, node: ast.Return) -> Any:
        # [task 5.3] The value, or None as a `constexpr`. Inside a loop (`self.in_loop`) an error that has the words
        # "Cannot have `return` statements inside `while` or `for` statements".
        if self.in_loop:
            message = "Cannot have `return` statements inside `while` or `for` statements"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        return self.visit(node.value) if node.value else constexpr(None)
        # [end]

    def visit_Assign(self, node: ast.Assign) -> None:
        # [task 5.3] One target only: "simultaneous multiple assignment is not supported". Then `assign`.
        if len(node.targets) != 1:
            raise self.error(node, "simultaneous multiple assignment is not supported")
        self.assign(node.targets[0], self.visit(node.value))
        # [end]

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or several to the elements of a tuple, however nested.

        A number that is given a name is no literal any more but a tensor, also in a tuple. Texts and functions get no
        names.
        """
        # [task 5.3] A `Name`: `evaluate` the value's `run_time`, then `self.scope.bind`; what is not `can_be_named` is
        # refused. A `Tuple`: the value must be a tuple of as many elements, or the error names both numbers. Others are
        # refused: "__setitem__ is not supported" for a `Subscript`, "Attribute assignment is not supported" for an
        # `Attribute`, and the rest is unsupported.
        if isinstance(target, ast.Name):
            value = self.evaluate(target, run_time, value)
            if not can_be_named(value):
                raise self.error(target, f"{target.id} cannot stand for {unwrap(value)!r}: only values have names")
            self.scope.bind(target.id, value, self.loc(target))
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                got = len(value) if isinstance(value, tuple) else repr(value)
                raise self.error(target, f"{len(target.elts)} names cannot be given the elements of {got}")
            for element, part in zip(target.elts, value, strict=True):
                self.assign(element, part)
        elif isinstance(target, ast.Subscript):
            raise self.error(target, "__setitem__ is not supported: make a new tensor, as with tl.where")
        elif isinstance(target, ast.Attribute):
            raise self.error(target, "Attribute assignment is not supported")
        else:
            raise self.unsupported(target, target)
        # [end]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`X: tl.constexpr = 4` keeps a number a compile-time value. Other annotations mean nothing."""
        # [task 5.4] If the annotation's text (`ast.unparse`) has "constexpr" in it: the name must be new ("... is
        # already defined. constexpr cannot be reassigned."), and the value no tensor. Otherwise it is an assignment
        # like any other. Without a value there is nothing to do.
        if node.value is None:
            return
        value = self.visit(node.value)
        if "constexpr" not in ast.unparse(node.annotation):
            self.assign(node.target, value)
            return
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "only a name can be constexpr")
        name = node.target.id
        if name in self.scope.values:
            raise self.error(node, f"{name} is already defined. constexpr cannot be reassigned.")
        if isinstance(value, tensor):
            raise self.error(node.value, f"{name} is constexpr, but its value {value!r} is not known at compile time")
        self.scope.bind(
            name, constexpr(unwrap(value)) if not isinstance(value, tuple) else value, self.loc(node.target)
        )
        # [end]

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`x += y`"""
        # [task 5.3] The same as `x = x + y`: make those nodes and visit them. `ast.copy_location` gives a new node the
        # place of an old one; and the name that is read is a `Load`.
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "only a name can be updated")
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(name, node.op, node.value), node)
        self.assign(node.target, self.visit(value))
        # [end]

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect, or a docstring. (Given.)"""
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        """(Given.)"""

    def visit_Assert(self, node: ast.Assert) -> None:
        """`assert condition, "message"` is a `tl.device_assert`. (Given.)"""
        message = self.visit(node.msg) if node.msg else constexpr("")
        self.evaluate(node, tl.device_assert, self.visit(node.test), message)
