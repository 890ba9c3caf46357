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
        # [task 5.4] What is no tensor is known to the compiler, and `self.truth` knows whether it holds. Then `run` the
        # statements of the one branch and after them the rest. Otherwise: `self.runtime_if`, with a scalar condition
        # (`self.scalar`).
        if not isinstance(condition, tensor):
            return self.run([*(node.body if self.truth(node.test, condition) else node.orelse), *rest])
        return self.runtime_if(node, self.scalar(node.test, condition), rest)
        # [end]

    def truth(self, node: ast.expr, condition: Any) -> bool:
        """Whether a condition that the compiler knows holds. It must be a bool, an int or None. (Given.)"""
        value = unwrap(condition)
        if value is not None and not isinstance(value, int):
            message = f"an `if` decides by a bool, an int or None, not by a {type(value).__name__}"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        return bool(value)

    def runtime_if(self, node: ast.If, condition: tensor, rest: Sequence[ast.stmt]) -> Any:
        """An `if` that is decided when the kernel runs, and the rest."""
        # [task 5.7] If there is a `return` in one of the branches (`contains_return`), compile each branch with the
        # rest behind it, and `choose` between what they return (`returned` says what that is if they return nothing).
        # Otherwise compile both branches as they are, then `merge` what they did to the names, then `run` the rest.
        if contains_return(node):
            ways = self.compile([partial(self.run, [*node.body, *rest]), partial(self.run, [*node.orelse, *rest])])
            return self.choose(node, condition, ways, "Return type mismatch: {} and {}")
        self.merge(node, condition, self.compile([partial(self.run, node.body), partial(self.run, node.orelse)]))
        return self.run(rest)
        # [end]

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
        # [task 5.7] End each block with `yield_` of the handles of its value's parts (`builder.at_end`), then build the
        # operation with one region for each block. The joined value is the first, rebuilt from the results.
        for (block, _, _), value in zip(branches, values, strict=True):
            with self.builder.at_end(block):
                yield_(self.builder, *(part.handle for part in parts(value)))
        regions = [Region([block]) for block, _, _ in branches]
        operation = self.builder.operation("scf.if", condition.handle, regions=regions)
        return rebuilt(values[0], operation.results)
        # [end]

    def choose(self, node: ast.expr | ast.stmt, condition: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
        """The value that one of two branches results in.

        Raises `CompilationError` with `mismatch`, which has a place for each type, if the types differ.
        """
        # [task 5.7] The numbers of each become tensors (`run_time`) at the end of its block: then `spelled` tells
        # whether they agree. `returned` is for blocks that return nothing.
        values = []
        for block, _, result in branches:
            with self.builder.at_end(block):
                values.append(run_time(returned(result)))
        if spelled(values[0]) != spelled(values[1]):
            raise self.error(node, mismatch.format(*map(spelled, values)))
        return self.join(condition, branches, values)
        # [end]

    def merge(self, node: ast.If, condition: tensor, branches: Sequence[Branch]) -> None:
        """Build the `scf.if`, and give the names the values that they have after it."""
        # [task 5.7] Go through the names that the branches write. One that has a value after one branch only, or after
        # none, is lost: say to `self.scope.lose` on which line the `if` is. One that is the very same object in both is
        # bound to it. Of two values without `parts` the compiler does not know which it will be: lost as well. All
        # others cross, if they `agree`; `disagreement` is the error if not.
        (_, then, _), (_, otherwise, _) = branches
        crossing: dict[str, tuple[Any, Any]] = {}
        for name in written([*node.body, *node.orelse]):
            value, other = then.values.get(name), otherwise.values.get(name)
            if value is None or other is None or (value is not other and not parts((value, other))):
                self.scope.lose(name, f"it has a value only in a branch of the `if` on line {self.loc(node).line}")
            elif value is other:
                self.scope.bind(name, value, then.places[name])
            elif not self.agree(name, value, other):
                raise self.disagreement(name, then, otherwise)
            else:
                crossing[name] = value, other
        values = [tuple(pair[i] for pair in crossing.values()) for i in (0, 1)]
        joined = self.join(condition, branches, values)
        for name, value in zip(crossing, joined, strict=True):
            self.scope.bind(name, value, self.loc(node))
        # [end]

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
        # [task 5.8] "Mismatched type for x between then block (fp32[], line 5) and else block (int32[], line 7)". For a
        # branch that leaves the name alone, the line is that where it was bound before the `if`. The error's place is
        # the one of both that is further down.
        message = (
            f"Mismatched type for {name} between then block ({value}, line {first.line}) "
            f"and else block ({other}, line {second.line})"
        )
        return CompilationError(message, max(first, second, key=lambda loc: loc.line))
        # [end]

    def scalar(self, node: ast.expr, condition: Any) -> tensor:
        """A condition as a scalar `int1`. Raises `CompilationError` at `node` for more than one element."""
        # [task 5.7] "Boolean value of Tensor with more than one value is ambiguous" is an
        # `UnsupportedLanguageConstruct`. A number or a pointer is true if it is not zero: `convert` to int1. One
        # element in a tensor: `tt.unsplat`.
        if condition.numel != 1:
            message = "Boolean value of Tensor with more than one value is ambiguous: an `if` decides for the program"
            raise UnsupportedLanguageConstruct(message, self.loc(node))
        if condition.shape:
            condition = tensor(self.builder.create("tt.unsplat", condition.handle), condition.dtype)
        return self.evaluate(node, convert, condition, int1)
        # [end]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """`x if condition else y`"""
        # [task 5.7] As an `if`: visit one side if the compiler knows the condition (`self.truth`). If not, `compile`
        # both, with a scalar condition (`self.scalar`), and `choose`. The message for two types is
        # "Ternary expression with dynamic condition has inconsistent types int32[] and fp32[]".
        condition = self.visit(node.test)
        if not isinstance(condition, tensor):
            return self.visit(node.body if self.truth(node.test, condition) else node.orelse)
        condition = self.scalar(node.test, condition)
        branches = self.compile([partial(self.visit, node.body), partial(self.visit, node.orelse)])
        mismatch = "Ternary expression with dynamic condition has inconsistent types {} and {}"
        return self.choose(node, condition, branches, mismatch)
        # [end]

    def visit_not(self, node: ast.UnaryOp) -> Any:
        """`not x`"""
        # [task 5.7] Of a tensor `invert`, if it is int1 (`self.boolean` sees to it); else Python's, as a `constexpr`.
        value = self.visit(node.operand)
        if isinstance(value, tensor):
            return self.evaluate(node, invert, self.boolean(node, value))
        return constexpr(not value)
        # [end]

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: of tensors both sides are computed, and combined bit by bit."""
        # [task 5.7] Visit from left to right. A value that the compiler knows either decides (False for `and`, True for
        # `or`): then it is the result, and what follows is not visited. Or it changes nothing: leave it out. If no
        # tensors are left, the result is the last value; if there is one, it is the result; more of them must be int1
        # (`self.boolean`), and are combined by `bitwise` from the left.
        decides = isinstance(node.op, ast.Or)
        tensors = []
        for operand in node.values:
            value = self.visit(operand)
            if isinstance(value, tensor):
                tensors.append((operand, value))
            elif bool(value) is decides:
                return value
        if len(tensors) < 2:
            return tensors[0][1] if tensors else value
        result, *others = [self.boolean(*pair) for pair in tensors]
        for other in others:
            result = self.evaluate(node, bitwise, "arith.ori" if decides else "arith.andi", result, other)
        return result
        # [end]

    def boolean(self, node: ast.expr, value: tensor) -> tensor:
        """`value` itself, which must be `int1`. (Given.)"""
        if value.dtype != int1:
            raise self.error(node, f"this has to be an int1, which {value!r} is not: compare it with something")
        return value


def contains_return(node: ast.AST) -> bool:
    """Whether there is a `return` statement inside. (Given.)"""
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))
