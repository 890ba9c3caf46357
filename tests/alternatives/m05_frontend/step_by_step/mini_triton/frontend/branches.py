"""Branches: `if`, `x if c else y`, `and`, `or`, `not`.

If the compiler knows the condition, only one side is visited: the other one need not even make sense. Otherwise both
are compiled, each into a region of an `scf.if`, and what they leave in the names becomes the operation's results.

A `return` inside an `if` ends the function on one way only. The statements after the `if` then belong to the other
way, so they are compiled as its continuation: `if c: return` followed by `rest` is `if c: return, else: rest`. (Triton
leaves structured control flow here and jumps, by `cf.cond_br`.)

Source: `visit_If` and `visit_IfExp` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mini_triton.errors import CompilationError, UnsupportedLanguageConstruct
from mini_triton.frontend.calls import Calls, returned
from mini_triton.frontend.names import written
from mini_triton.frontend.scope import Scope
from mini_triton.frontend.values import parts, rebuilt, run_time, spelled
from mini_triton.ir.core import Block, Region
from mini_triton.ir.scopes import yield_
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.dtypes import int1
from mini_triton.language.tensor import bitwise, convert, invert, tensor

Branch = tuple[Block, Scope, Any]
"""A branch that has been compiled: its block, the names at its end, and what the visit returned."""


class Branches(Calls):
    """Visits what depends on a condition."""

    def visit_If(self, node: ast.If, rest: Sequence[ast.stmt]) -> Any:
        """Visit an `if` and the statements after it, and return what they return."""
        condition = self.visit(node.test)
        if not isinstance(condition, tensor):
            return self.run([*(node.body if self.truth(node.test, condition) else node.orelse), *rest])
        return self.runtime_if(node, self.scalar(node.test, condition), rest)

    def truth(self, node: ast.expr, condition: Any) -> bool:
        """Whether a condition that the compiler knows holds. It must be a bool, an int or None. (Given.)"""
        value = unwrap(condition)
        if value is not None and not isinstance(value, int):
            message = f"an `if` decides by a bool, an int or None, not by a {type(value).__name__}"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        return bool(value)

    def runtime_if(self, node: ast.If, condition: tensor, rest: Sequence[ast.stmt]) -> Any:
        """An `if` that is decided when the kernel runs, and the rest."""

        def then() -> Any:
            if returning:
                return self.run([*node.body, *rest])
            return self.run(node.body)

        def otherwise() -> Any:
            if returning:
                return self.run([*node.orelse, *rest])
            return self.run(node.orelse)

        returning = contains_return(node)
        branches = self.compile([then, otherwise])
        if returning:
            return self.choose(node, condition, branches, "Return type mismatch: {} and {}")
        self.merge(node, condition, branches)
        return self.run(rest)

    def compile(self, visits: Sequence[Callable[[], Any]]) -> list[Branch]:
        """Make each of these visits in a block of its own and with names of its own, the same at first. (Given.)"""
        before, branches = self.scope, []
        for visit in visits:
            block, self.scope = Block(), before.copy()
            with self.builder.at_end(block):
                result = visit()
            branches.append((block, self.scope, result))
        self.scope = before
        return branches

    def join(self, condition: tensor, branches: Sequence[Branch], values: Sequence[Any]) -> Any:
        """Build the `scf.if` from two compiled branches, where branch i results in `values[i]`; the joined value.

        The values are spelled alike.
        """
        regions = []
        for i in range(2):
            block = branches[i][0]
            handles = []
            for part in parts(values[i]):
                handles.append(part.handle)
            with self.builder.at_end(block):
                yield_(self.builder, *handles)
            region = Region([block])
            regions.append(region)
        operation = self.builder.operation("scf.if", condition.handle, regions=regions)
        return rebuilt(values[0], operation.results)

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        """The value that one of two branches results in.

        Raises `CompilationError` with `mismatch`, which has a place for each type, if the types differ.
        """
        first_block, _, first = branches[0]
        second_block, _, second = branches[1]
        first = returned(first)
        second = returned(second)
        with self.builder.at_end(first_block):
            first = run_time(first)
        with self.builder.at_end(second_block):
            second = run_time(second)
        first_type = spelled(first)
        second_type = spelled(second)
        if first_type != second_type:
            raise self.error(node, mismatch.format(first_type, second_type))
        return self.join(condition, branches, [first, second])

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        """Build the `scf.if`, and give the names the values that they have after it."""
        then = branches[0][1]
        otherwise = branches[1][1]
        names = []
        lefts = []
        rights = []
        for name in written([*node.body, *node.orelse]):
            if name not in then.values:
                self._lose(name, node)
                continue
            if name not in otherwise.values:
                self._lose(name, node)
                continue
            left = then.values[name]
            right = otherwise.values[name]
            if left is right:
                self.scope.bind(name, left, then.places[name])
                continue
            if len(parts(left)) == 0 and len(parts(right)) == 0:
                self._lose(name, node)
                continue
            if not self.agree(name, left, right):
                raise self.disagreement(name, then, otherwise)
            names.append(name)
            lefts.append(left)
            rights.append(right)
        results = self.join(condition, branches, [tuple(lefts), tuple(rights)])
        for i in range(len(names)):
            self.scope.bind(names[i], results[i], self.loc(node))

    def _lose(self, name: str, node: ast.If) -> None:
        self.scope.lose(name, f"only one branch of the `if` on line {self.loc(node).line} gives it a value")

    def agree(self, name: str, value: Any, other: Any) -> bool:
        """Whether a name has one type after both branches, and had it before if it had a value then. (Given.)

        None and dtypes are none.
        """
        types, before = {spelled(value), spelled(other)}, self.scope.values.get(name)
        if parts(before) or (isinstance(before, constexpr) and before.value is not None):
            types.add(spelled(before))
        return len(types) == 1

    def disagreement(self, name: str, then: Scope, otherwise: Scope) -> CompilationError:
        """The error for a name that the branches leave with different types. Its place is where the second is bound."""
        first, second = then.places[name], otherwise.places[name]
        value, other = spelled(then.values[name]), spelled(otherwise.values[name])
        if value == other:
            before = f"{spelled(self.scope.values[name])} (line {self.scope.places[name].line})"
            message = f"initial value for {name} is of type {before}, but the branches redefine it as {value}"
            return CompilationError(message, first)
        message = "Mismatched type for " + name
        message = message + f" between then block ({value}, line {first.line})"
        message = message + f" and else block ({other}, line {second.line})"
        if first.line > second.line:
            return CompilationError(message, first)
        return CompilationError(message, second)

    def scalar(self, node: ast.expr, condition: Any) -> tensor:
        """A condition as a scalar `int1`. Raises `CompilationError` at `node` for more than one element."""
        if condition.numel != 1:
            message = "Boolean value of Tensor with more than one value is ambiguous: an `if` decides for the program"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        if condition.shape:
            condition = tensor(self.builder.create("tt.unsplat", condition.handle), condition.dtype)
        return self.evaluate(node, convert, condition, int1)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """`x if condition else y`"""
        condition = self.visit(node.test)
        if isinstance(condition, tensor):
            decision = self.scalar(node.test, condition)
            first = partial(self.visit, node.body)
            second = partial(self.visit, node.orelse)
            branches = self.compile([first, second])
            message = "Ternary expression with dynamic condition has inconsistent types {} and {}"
            return self.choose(node, decision, branches, message)
        if self.truth(node.test, condition):
            return self.visit(node.body)
        else:
            return self.visit(node.orelse)

    def visit_not(self, node: ast.UnaryOp) -> Any:
        """`not x`"""
        value = self.visit(node.operand)
        if isinstance(value, tensor):
            return self.evaluate(node, invert, self.boolean(node, value))
        return constexpr(not value)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: of tensors both sides are computed, and combined bit by bit."""
        is_or = isinstance(node.op, ast.Or)
        last: Any = None
        result: Any = None
        only_one: Any = None
        for operand in node.values:
            value = self.visit(operand)
            if not isinstance(value, tensor):
                if is_or and bool(value):
                    return value
                if not is_or and not bool(value):
                    return value
                last = value
                continue
            if only_one is None:
                only_one = (operand, value)
                result = value
                continue
            result = self.boolean(only_one[0], result)
            value = self.boolean(operand, value)
            if is_or:
                result = self.evaluate(node, bitwise, "arith.ori", result, value)
            else:
                result = self.evaluate(node, bitwise, "arith.andi", result, value)
        if result is None:
            return last
        return result

    def boolean(self, node: ast.expr, value: tensor) -> tensor:
        """`value` itself, which must be `int1`. (Given.)"""
        if value.dtype != int1:
            raise self.error(node, f"this has to be an int1, which {value!r} is not: compare it with something")
        return value


def contains_return(node: ast.AST) -> bool:
    """Whether there is a `return` statement inside. (Given.)"""
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))
