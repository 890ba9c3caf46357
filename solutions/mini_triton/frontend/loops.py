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
from mini_triton.language.tensor import add, sub, tensor, to_tensor

Carried = dict[str, Any]
"""The names that a loop carries, with their values."""


class Loops(Branches):
    """Visits loops."""

    in_loop = False  # whether the statement being visited is in the body of a loop

    # --- what both kinds share

    def carried(self, node: ast.For | ast.While) -> Carried:
        """The names that this loop carries, with their values before it."""
        # [task 5.6] Those that its body writes and whose value now has parts. What the loop gives a value
        # itself (`targets`) is not among them.
        names = set(written(node.body)) - set(targets(node))
        return {name: value for name, value in self.scope.values.items() if name in names and parts(value)}
        # [end]

    def enter(self, carried: Carried, handles: Iterable[Value]) -> None:
        """Give the carried names their values inside: the same, rebuilt from a block's arguments. (Given.)"""
        for name, value in zip(carried, rebuilt(tuple(carried.values()), handles), strict=True):
            self.scope.bind(name, value, self.scope.places[name])

    def visit_body(self, node: ast.For | ast.While, carried: Carried) -> list[Value]:
        """Visit the body; the IR values with which the carried names end it.

        Raises `CompilationError` for a name whose type has changed, and for a new value where the compiler knew one.
        """
        # [task 5.6] `run` the body with `self.in_loop` set, so that a `return` in it is refused; then set it back to
        # what it was. `check_known` looks at names whose value the compiler knows; it needs a copy of the scope from
        # before the body. A carried name must be spelled as before, or `changed` is the error, with that copy.
        before = self.scope.copy()
        in_loop, self.in_loop = self.in_loop, True
        self.run(node.body)
        self.in_loop = in_loop
        self.check_known(node, before)
        for name in carried:
            value = self.scope.values.get(name)
            if spelled(value) != spelled(carried[name]):
                raise self.changed(name, carried[name], before, value)
        return [part.handle for name in carried for part in parts(self.scope.values[name])]
        # [end]

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
        # [task 5.8] "Loop-carried variable acc has initial type int32[] (line 3) but is re-assigned to fp32[] in loop!
        # Please make sure that the type stays consistent." The lines are in `places`.
        return CompilationError(
            f"Loop-carried variable {name} has initial type {spelled(initial)} (line {before.places[name].line}) "
            f"but is re-assigned to {spelled(value)} in loop! Please make sure that the type stays consistent.",
            self.scope.places[name],
        )
        # [end]

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
        # [task 5.4] The iterator is a `static_range`: `self.unroll`; a `tl_range` (Python's `range` becomes one, too):
        # `self.runtime_for`. For others raise an `UnsupportedLanguageConstruct` at `node.iter` that names both. The
        # target must be a name, and there is no `else`.
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
        # [end]

    def unroll(self, node: ast.For, target: ast.Name, iterator: static_range) -> None:
        """A loop that the compiler runs: its body once for each value of the target, which is a `constexpr`."""
        # [task 5.4] `evaluate` the iterator's `tuple`: these are the values. A `return` in the body is refused: set
        # `self.in_loop` meanwhile.
        in_loop, self.in_loop = self.in_loop, True
        for value in self.evaluate(node.iter, tuple, iterator):
            self.scope.bind(target.id, value, self.loc(target))
            self.run(node.body)
        self.in_loop = in_loop
        # [end]

    def runtime_for(self, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
        """A loop that the kernel runs: `scf.for`."""
        # [task 5.6] `self.bounds` gives the three operands, of one dtype, which is the induction variable's too. Open a
        # `for_` with the handles of the carried values' parts. Inside, with a copy of the scope, `enter`, bind the
        # target to the variable, visit the body and yield what comes of it. Then `annotate` the loop with what
        # `tl.range` was told, and `leave` with the results. If the step is known to be negative (`is_negative`), the
        # bounds are those of a loop upward (`backwards`), and the target is upper - variable + lower.
        backwards = is_negative(iterator.step)
        lower, upper, step = self.bounds(node.iter, iterator, backwards)
        carried, before = self.carried(node), self.scope
        inits = [part.handle for value in carried.values() for part in parts(value)]
        with for_(self.builder, lower.handle, upper.handle, step.handle, inits) as loop:
            self.scope = before.copy()
            self.enter(carried, loop.carried)
            variable = tensor(loop.variable, lower.dtype)
            value = add(sub(upper, variable), lower) if backwards else variable
            self.scope.bind(target.id, value, self.loc(target))
            yield_(self.builder, *self.visit_body(node, carried))
        annotate(loop.variable, iterator)
        self.leave(node, carried, before, loop.results)
        # [end]

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
        # [task 5.7] Open a `while_` with the carried values' parts. In `before`, with a copy of the scope, `enter` and
        # visit the test: an int1 (`self.boolean`) scalar (`self.scalar`) that ends the region as its `condition`,
        # together with the arguments. In `after`, with a copy again, `enter`, visit the body and yield. Then `leave`.
        # A test that the compiler knows would never change: an error; and so is an `else`.
        carried, before = self.carried(node), self.scope
        if node.orelse:
            raise self.error(node, "a `while` in a kernel has no `else`")
        inits = [part.handle for value in carried.values() for part in parts(value)]
        with while_(self.builder, inits) as loop:
            with loop.before() as arguments:
                self.scope = before.copy()
                self.enter(carried, arguments)
                test = self.visit(node.test)
                if not isinstance(test, tensor):
                    raise self.error(
                        node.test, f"a `while` in a kernel needs a test of the running kernel, not {test!r}"
                    )
                test = self.scalar(node.test, self.boolean(node.test, test))
                condition(self.builder, test.handle, *arguments)
            with loop.after() as arguments:
                self.scope = before.copy()
                self.enter(carried, arguments)
                yield_(self.builder, *self.visit_body(node, carried))
        self.leave(node, carried, before, loop.results)
        # [end]


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
