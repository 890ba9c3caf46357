"""Loops: `for` and `while`.

A loop carries the names that its body writes and that have a tensor before it: they enter the body as block arguments,
leave it by `scf.yield`, and are the operation's results afterwards. Names that the body alone binds end with it.

Source: `visit_For` and `visit_While` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from mini_triton.errors import CompilationError, UnsupportedLanguageConstruct
from mini_triton.frontend.branches import Branches
from mini_triton.frontend.names import written
from mini_triton.frontend.scope import Scope
from mini_triton.frontend.values import parts, rebuilt, spelled
from mini_triton.ir.core import BlockArgument, Value
from mini_triton.ir.scopes import condition, for_, while_, yield_
from mini_triton.language.constexpr import unwrap
from mini_triton.language.context import current
from mini_triton.language.dtypes import dtype, promote
from mini_triton.language.hints import annotated
from mini_triton.language.ranges import range as tl_range
from mini_triton.language.ranges import static_range
from mini_triton.language.tensor import tensor, to_tensor

Carried = dict[str, Any]
"""The names that a loop carries, with their values."""


class Loops(Branches):
    """Visits loops."""

    in_loop = False  # whether the statement being visited is in the body of a loop

    # --- what both kinds share

    def carried(self, node: ast.For | ast.While) -> Carried:
        """The names that this loop carries, with their values before it."""
        changing = [name for name in written(node.body) if name in self.scope.values and name not in targets(node)]
        return {name: self.scope.values[name] for name in sorted(changing) if parts(self.scope.values[name])}

    def enter(self, carried: Carried, handles: Iterable[Value]) -> None:
        """Give the carried names their values inside: the same, rebuilt from a block's arguments. (Given.)"""
        for name, value in zip(carried, rebuilt(tuple(carried.values()), handles), strict=True):
            self.scope.bind(name, value, self.scope.places[name])

    def visit_body(self, node: ast.For | ast.While, carried: Carried) -> list[Value]:
        """Visit the body; the IR values with which the carried names end it.

        Raises `CompilationError` for a name whose type has changed, and for a new value where the compiler knew one.
        """
        before, outer = self.scope.copy(), self.in_loop
        self.in_loop = True
        try:
            self.run(node.body)
        finally:
            self.in_loop = outer
        self.check_known(node, before)
        after = [self.scope.values.get(name) for name in carried]
        for (name, old), new in zip(carried.items(), after, strict=True):
            if spelled(old) != spelled(new):
                raise self.changed(name, old, before, new)
        return [part.handle for part in parts(tuple(after))]

    def leave(self, node: ast.For | ast.While, carried: Carried, before: Scope, results: Iterable[Value]) -> None:
        """Back to the names before the loop: carried ones have its results, those bound inside are lost. (Given.)"""
        self.scope = before
        for name in (*targets(node), *written(node.body)):
            if name not in before.values or name in targets(node):
                before.lose(name, f"it has a value only inside the loop on line {self.loc(node).line}")
        self.enter(carried, results)

    def changed(self, name: str, initial: Any, before: Scope, value: Any) -> CompilationError:
        """The error for a carried name whose type changes, at the place where it does."""
        if name in self.scope.lost:  # the target of a loop inside
            return CompilationError(f"{name} is lost in the loop: {self.scope.lost[name]}", before.places[name])
        places = before.places[name], self.scope.places[name]
        return CompilationError(
            f"Loop-carried variable {name} has initial type {spelled(initial)} (line {places[0].line}) "
            f"but is re-assigned to {spelled(value)} in loop! Please make sure that the type stays consistent.",
            places[1],
        )

    def check_known(self, node: ast.For | ast.While, before: Scope) -> None:
        """Raise `CompilationError` for a name whose value the compiler knew before the body, and that has another now.

        The target of an unrolled loop inside may. (Given.)
        """
        unrolled = [self.loc(inner.target) for inner in ast.walk(node) if isinstance(inner, ast.For)]
        for name, value in before.values.items():
            known, place = not parts(value), self.scope.places[name]
            if known and self.scope.values.get(name) is not value and place not in unrolled:
                message = f"cannot reassign constexpr {name} in the loop: its body is compiled once, for all rounds"
                raise CompilationError(message, place)

    # --- for

    def visit_For(self, node: ast.For) -> None:
        iterator = self.visit(node.iter)
        if not isinstance(node.target, ast.Name) or node.orelse:
            raise self.error(node, "a `for` in a kernel has one name as its target, and no `else`")
        if isinstance(iterator, static_range):
            self.unroll(node, node.target, iterator)
        elif isinstance(iterator, tl_range):
            self.runtime_for(node, node.target, iterator)
        else:
            message = "Only `range` and `static_range` iterators are currently supported"
            raise UnsupportedLanguageConstruct(message, self.loc(node.iter))

    def unroll(self, node: ast.For, target: ast.Name, iterator: static_range) -> None:
        """A loop that the compiler runs: its body once for each value of the target, which is a `constexpr`."""
        in_loop, self.in_loop = self.in_loop, True
        for value in self.evaluate(node.iter, tuple, iterator):
            self.scope.bind(target.id, value, self.loc(target))
            self.run(node.body)
        self.in_loop = in_loop

    def runtime_for(self, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
        """A loop that the kernel runs: `scf.for`."""
        down = is_negative(iterator.step)
        lower, upper, step = self.bounds(node.iter, iterator, down)
        carried, before = self.carried(node), self.scope
        inits = [part.handle for part in parts(tuple(carried.values()))]
        with for_(self.builder, lower.handle, upper.handle, step.handle, inits) as loop:
            self.scope = before.copy()
            self.enter(carried, loop.carried)
            variable = tensor(loop.variable, lower.dtype)
            self.scope.bind(target.id, upper - variable + lower if down else variable, self.loc(target))
            yield_(self.builder, *self.visit_body(node, carried))
        annotate(loop.variable, iterator)
        self.leave(node, carried, before, loop.results)

    def bounds(self, node: ast.expr, iterator: tl_range, backwards: bool) -> list[tensor]:
        """Start, end and step of a loop as scalars of one integer dtype; `backwards` as a loop upward. (Given.)"""
        start, end, step = iterator.start, iterator.stop, iterator.step
        if backwards:
            start, end, step = end, start, -unwrap(step)
        values = [self.evaluate(node, to_tensor, bound) for bound in (start, end, step)]
        for value in values:
            if value.shape or value.dtype.is_ptr() or not value.dtype.is_int():
                raise self.error(node, f"For loop bounds and step must all be integer scalars, not {value!r}")
        dtype = promote(promote(values[0].dtype, values[1].dtype), values[2].dtype)
        return [widened(value, dtype) for value in values]

    # --- while

    def visit_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.error(node, "a `while` in a kernel has no `else`")
        carried, before = self.carried(node), self.scope

        def inside(arguments: Iterable[Value]) -> None:
            self.scope = before.copy()
            self.enter(carried, arguments)

        with while_(self.builder, [part.handle for part in parts(tuple(carried.values()))]) as loop:
            with loop.before() as arguments:
                inside(arguments)
                if not isinstance(test := self.visit(node.test), tensor):
                    raise self.error(node.test, f"{test!r} never changes: this is no test for a `while`")
                condition(self.builder, self.scalar(node.test, self.boolean(node.test, test)).handle, *arguments)
            with loop.after() as arguments:
                inside(arguments)
                yield_(self.builder, *self.visit_body(node, carried))
        self.leave(node, carried, before, loop.results)


def targets(node: ast.For | ast.While) -> list[str]:
    """The names that the loop itself gives a value. (Given.)"""
    return written([node.target]) if isinstance(node, ast.For) else []


def widened(value: tensor, dtype: dtype) -> tensor:
    """A bound in the dtype of all three: Triton extends it as that one is signed, even if itself is not. (Given.)"""
    if value.dtype.primitive_bitwidth == dtype.primitive_bitwidth:
        return tensor(value.handle, dtype)
    extension = "arith.extsi" if dtype.signed else "arith.extui"
    return tensor(current().cast(value.handle, [(extension, dtype)]), dtype)


def is_negative(step: Any) -> bool:
    """Whether a step is known to be negative. (Given.)"""
    return isinstance(unwrap(step), int) and unwrap(step) < 0


def annotate(variable: BlockArgument, iterator: tl_range) -> None:
    """Pass on to real Triton's compiler what is known of a loop: the options of `tl.range`, and promises about carried
    values, such as `tl.multiple_of`. As in Triton, these are noted on the loop and on what it starts with. (Given.)
    """
    block = variable.owner
    assert block.parent is not None and block.parent.parent is not None
    loop = block.parent.parent
    loop.attributes.update(iterator.attributes)
    for argument, init in zip(block.arguments[1:], loop.operands[3:], strict=True):
        for name, values in argument.attributes.items():
            loop.attributes[f"{name}_arg{argument.index}"] = values
            annotated(init).setdefault(name, values)
