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
        rest_inside = list(rest) if contains_return(node) else []
        ways = self.compile([partial(self.run, [*way, *rest_inside]) for way in (node.body, node.orelse)])
        if contains_return(node):
            return self.choose(node, condition, ways, "Return type mismatch: {} and {}")
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

        def closed(branch: Branch, value: Any) -> Region:
            with self.builder.at_end(branch[0]):
                yield_(self.builder, *[part.handle for part in parts(value)])
            return Region([branch[0]])

        regions = list(map(closed, branches, values))
        return rebuilt(values[1], self.builder.operation("scf.if", condition.handle, regions=regions).results)

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        """The value that one of two branches results in.

        Raises `CompilationError` with `mismatch`, which has a place for each type, if the types differ.
        """

        def value(branch: Branch) -> Any:
            with self.builder.at_end(branch[0]):
                return run_time(returned(branch[2]))

        values = tuple(map(value, branches))
        types = tuple(map(spelled, values))
        if len({*types}) > 1:
            raise self.error(node, mismatch.format(*types))
        return self.join(condition, branches, values)

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        """Build the `scf.if`, and give the names the values that they have after it."""
        (_, then, _), (_, otherwise, _) = branches
        names = written([*node.body, *node.orelse])
        both = {
            name: (then.values[name], otherwise.values[name])
            for name in names
            if {name} <= then.values.keys() & otherwise.values.keys()
        }
        same = {name: pair[0] for name, pair in both.items() if pair[0] is pair[1]}
        crossing = {name: pair for name, pair in both.items() if name not in same and parts(pair)}
        for name in crossing:
            if not self.agree(name, *crossing[name]):
                raise self.disagreement(name, then, otherwise)
        values = tuple(zip(*crossing.values(), strict=True)) or ((), ())
        results = dict(zip(crossing, self.join(condition, branches, values), strict=True))
        for name in names:
            if name in same or name in results:
                self.scope.bind(name, {**same, **results}[name], otherwise.places[name])
            else:
                self.scope.lose(name, f"it has one value at most after the `if` on line {self.loc(node).line}")

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
        where = f"then block ({value}, line {first.line}) and else block ({other}, line {second.line})"
        later = first if first.line > second.line else second
        return CompilationError(f"Mismatched type for {name} between {where}", later)

    def scalar(self, node: ast.expr, condition: Any) -> tensor:
        """A condition as a scalar `int1`. Raises `CompilationError` at `node` for more than one element."""
        if condition.numel > 1:
            message = "Boolean value of Tensor with more than one value is ambiguous"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        handle = self.builder.create("tt.unsplat", condition.handle) if condition.shape else condition.handle
        return self.evaluate(node, lambda: convert(tensor(handle, condition.dtype), int1))

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
        value = self.visit(node.operand)
        if not isinstance(value, tensor):
            return constexpr(not bool(value))
        return self.evaluate(node, lambda: invert(self.boolean(node, value)))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: of tensors both sides are computed, and combined bit by bit."""
        name, decides = ("arith.ori", True) if isinstance(node.op, ast.Or) else ("arith.andi", False)

        def combined(left: Any, operands: Sequence[ast.expr]) -> Any:
            """What comes of `left`, a value with its node, and of the operands after it."""
            if not isinstance(left[1], tensor) and (bool(left[1]) is decides or not operands):
                return left[1]
            if not operands:
                return left[1]
            right = operands[0], self.visit(operands[0])
            if not isinstance(right[1], tensor) and bool(right[1]) is decides:
                return right[1]
            if isinstance(left[1], tensor) and isinstance(right[1], tensor):
                result = self.evaluate(node, bitwise, name, self.boolean(*left), self.boolean(*right))
                return combined((node, result), operands[1:])
            return combined(
                right if isinstance(right[1], tensor) or not isinstance(left[1], tensor) else left, operands[1:]
            )

        first, *others = node.values
        return combined((first, self.visit(first)), others)

    def boolean(self, node: ast.expr, value: tensor) -> tensor:
        """`value` itself, which must be `int1`. (Given.)"""
        if value.dtype != int1:
            raise self.error(node, f"this has to be an int1, which {value!r} is not: compare it with something")
        return value


def contains_return(node: ast.AST) -> bool:
    """Whether there is a `return` statement inside. (Given.)"""
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))
