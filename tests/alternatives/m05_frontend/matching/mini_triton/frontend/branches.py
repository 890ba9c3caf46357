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
        then, otherwise = node.body, node.orelse
        match contains_return(node):
            case True:
                ways = self.compile([lambda: self.run([*then, *rest]), lambda: self.run([*otherwise, *rest])])
                return self.choose(node, condition, ways, "Return type mismatch: {} and {}")
            case False:
                ways = self.compile([lambda: self.run(then), lambda: self.run(otherwise)])
                self.merge(node, condition, ways)
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
        for (block, _, _), value in zip(branches, values, strict=True):
            with self.builder.at_end(block):
                yield_(self.builder, *(part.handle for part in parts(value)))
        regions = [Region([block]) for block, _, _ in branches]
        operation = self.builder.operation("scf.if", condition.handle, regions=regions)
        return rebuilt(values[0], operation.results)

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        """The value that one of two branches results in.

        Raises `CompilationError` with `mismatch`, which has a place for each type, if the types differ.
        """
        match branches:
            case [(first, _, one), (second, _, two)]:
                with self.builder.at_end(first):
                    one = run_time(returned(one))
                with self.builder.at_end(second):
                    two = run_time(returned(two))
        if (types := (spelled(one), spelled(two))) and types[0] == types[1]:
            return self.join(condition, branches, (one, two))
        raise self.error(node, mismatch.format(*types))

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        """Build the `scf.if`, and give the names the values that they have after it."""
        (_, then, _), (_, otherwise, _) = branches
        missing, line = object(), self.loc(node).line
        pairs: dict[str, tuple[Any, Any]] = {}
        for name in dict.fromkeys([*written(node.body), *written(node.orelse)]):
            match then.values.get(name, missing), otherwise.values.get(name, missing):
                case value, other if value is other and value is not missing:
                    self.scope.bind(name, value, otherwise.places[name])
                case value, other if value is missing or other is missing or not (parts(value) or parts(other)):
                    self.scope.lose(name, f"after the `if` on line {line}, not every run has given it a value")
                case value, other if self.agree(name, value, other):
                    pairs[name] = value, other
                case _:
                    raise self.disagreement(name, then, otherwise)
        joined = self.join(condition, branches, list(zip(*pairs.values(), strict=True)) or [(), ()])
        for name, value in zip(pairs, joined, strict=True):
            self.scope.bind(name, value, then.places[name])

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
        message = (
            f"Mismatched type for {name} between then block ({value}, line {first.line}) "
            f"and else block ({other}, line {second.line})"
        )
        return CompilationError(message, max(first, second, key=lambda loc: loc.line))

    def scalar(self, node: ast.expr, condition: Any) -> tensor:
        """A condition as a scalar `int1`. Raises `CompilationError` at `node` for more than one element."""
        match condition.numel, condition.shape:
            case 1, ():
                return self.evaluate(node, convert, condition, int1)
            case 1, _:
                handle = self.builder.create("tt.unsplat", condition.handle)
                return self.scalar(node, tensor(handle, condition.dtype))
            case _:
                raise UnsupportedLanguageConstruct(
                    "Boolean value of Tensor with more than one value is ambiguous", self.loc(node)
                )

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """`x if condition else y`"""
        condition = self.visit(node.test)
        if not isinstance(condition, tensor):
            return self.visit(node.body if self.truth(node.test, condition) else node.orelse)
        condition = self.scalar(node.test, condition)
        branches = self.compile([partial(self.visit, node.body), partial(self.visit, node.orelse)])
        mismatch = "Ternary expression with dynamic condition has inconsistent types {} and {}"
        return self.choose(node, condition, branches, mismatch)

    def visit_not(self, node: ast.UnaryOp) -> Any:
        """`not x`"""
        match self.visit(node.operand):
            case tensor() as value:
                return self.evaluate(node, invert, self.boolean(node, value))
            case value:
                return constexpr(not value)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: of tensors both sides are computed, and combined bit by bit."""
        match node.op:
            case ast.And():
                name, decides = "arith.andi", False
            case ast.Or():
                name, decides = "arith.ori", True
        value: Any = None
        running: list[tuple[ast.expr, tensor]] = []
        for operand in node.values:
            match self.visit(operand):
                case tensor() as value:
                    running.append((operand, value))
                case value if bool(value) == decides:
                    return value
                case value:
                    pass
        match running:
            case []:
                return value
            case [(_, only)]:
                return only
            case [first, *others]:
                result = self.boolean(*first)
                for other in others:
                    result = self.evaluate(node, bitwise, name, result, self.boolean(*other))
                return result

    def boolean(self, node: ast.expr, value: tensor) -> tensor:
        """`value` itself, which must be `int1`. (Given.)"""
        if value.dtype != int1:
            raise self.error(node, f"this has to be an int1, which {value!r} is not: compare it with something")
        return value


def contains_return(node: ast.AST) -> bool:
    """Whether there is a `return` statement inside. (Given.)"""
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))
