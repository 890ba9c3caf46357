"""Control flow: `if`, `x if c else y`, `for`, `while`, and their effect on names.

If a condition is known at compile time, only one side is visited; the other side need not even be valid. Otherwise,
both sides are compiled, each to a region of an `scf.if`, and the values of names at the ends of the sides become the
operation's results.

A `return` inside an `if` ends the function on one path only. The statements after the `if` then belong to the other
path, so they are compiled as its continuation: `if c: return` followed by `rest` becomes `if c: return else: rest`.
(In this case, Triton abandons structured control flow and jumps with `cf.cond_br`.)

A loop carries the names that its body writes and that hold a tensor before the loop. The values of these names enter
the body as block arguments, leave it through `scf.yield`, and are the operation's results after the loop. Names that
only the body binds have no value after the loop.

Source: `visit_If`, `visit_IfExp`, `visit_For` and `visit_While` in Triton's `code_generator.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from mini_triton.errors import CompilationError, Loc, UnsupportedLanguageConstruct
from mini_triton.frontend.names import Scope, written
from mini_triton.frontend.values import describe, flatten, rebuild, to_run_time
from mini_triton.ir.core import Block, BlockArgument, Region, Value
from mini_triton.ir.scopes import condition, for_, while_, yield_
from mini_triton.language.constexpr import constexpr, unwrap
from mini_triton.language.context import current
from mini_triton.language.dtypes import dtype, int1, promote
from mini_triton.language.hints import annotated
from mini_triton.language.ranges import range as tl_range
from mini_triton.language.ranges import static_range
from mini_triton.language.tensor import add, convert, sub, tensor, to_tensor

if TYPE_CHECKING:
    from mini_triton.frontend.ast_visitor import Visitor


class Branch(NamedTuple):
    """A compiled branch."""

    block: Block
    scope: Scope  # the names at its end
    result: Any  # the result of the visit


Carried = dict[str, Any]
"""The names that a loop carries, with their values."""

# --- if


def visit_If(visitor: Visitor, node: ast.If, rest: Sequence[ast.stmt]) -> Any:
    """Visit an `if` and the statements after it. Returns their result."""
    test = visitor.visit(node.test)
    if isinstance(test, tensor):
        return runtime_if(visitor, node, to_condition(visitor, node.test, test), rest)
    # [task 5.5] The test is known at compile time, so the side that is not taken may be invalid. Given: `holds`.
    return visitor.run([*(node.body if holds(visitor, node.test, test) else node.orelse), *rest])
    # [end]


def holds(visitor: Visitor, node: ast.expr, test: Any) -> bool:
    """Whether a compile-time condition holds. It must be a bool, an int or None. (Given.)"""
    value = unwrap(test)
    if value is not None and not isinstance(value, int):
        message = (
            "`if` conditionals can only accept values of type {NoneType, bool, int}, "
            f"not objects of type {type(value).__name__}"
        )
        raise UnsupportedLanguageConstruct(message, visitor.loc(node))
    return bool(value)


def to_condition(visitor: Visitor, node: ast.expr, test: tensor) -> tensor:
    """A test as a scalar `int1`. Raises `UnsupportedLanguageConstruct` at `node` for more than one element."""
    # [task 5.8] An int32 scalar or a pointer is true if it is not zero. For a tensor with one element, such as an
    # int32[1], take the element out with `tt.unsplat`, which keeps the dtype, and then convert it. For an int1[8],
    # raise the error "Boolean value of Tensor with more than one value is ambiguous". Given: `convert`.
    if test.numel != 1:
        message = "Boolean value of Tensor with more than one value is ambiguous: use tl.where"
        raise UnsupportedLanguageConstruct(message, visitor.loc(node))
    if test.shape:
        test = tensor(visitor.builder.create("tt.unsplat", test.handle), test.dtype)
    return visitor.evaluate(node, convert, test, int1)
    # [end]


def runtime_if(visitor: Visitor, node: ast.If, test: tensor, rest: Sequence[ast.stmt]) -> Any:
    """Compile an `if` on a run-time condition, and `rest`. Returns their result."""
    found = find_return(node)
    if found and visitor.in_loop:  # even if the `return` is unreachable
        refuse_return(visitor, found)
    # [task 5.8] If there is no `return` (`found`), `rest` must be compiled only once. If there is one, the result is
    # one of two values; if their types differ, raise the error "Return type mismatch: int32[] and fp32[]". Given:
    # `compile_branches`, which takes two functions without parameters.
    if found:
        paths = [partial(visitor.run, [*branch, *rest]) for branch in (node.body, node.orelse)]
        return choose(visitor, node, test, compile_branches(visitor, paths), "Return type mismatch: {} and {}")
    branches = compile_branches(visitor, [partial(visitor.run, node.body), partial(visitor.run, node.orelse)])
    merge(visitor, node, test, branches)
    return visitor.run(rest)
    # [end]


def visit_IfExp(visitor: Visitor, node: ast.IfExp) -> Any:
    """`x if condition else y`"""
    # [task 5.8] If the condition is known at compile time, visit one side; any value may be the result. Otherwise,
    # compile both sides; if their types differ, raise the error "Ternary expression with dynamic condition has
    # inconsistent types int32[] and fp32[]".
    test = visitor.visit(node.test)
    if not isinstance(test, tensor):
        return visitor.visit(node.body if holds(visitor, node.test, test) else node.orelse)
    test = to_condition(visitor, node.test, test)
    branches = compile_branches(visitor, [partial(visitor.visit, node.body), partial(visitor.visit, node.orelse)])
    mismatch = "Ternary expression with dynamic condition has inconsistent types {} and {}"
    return choose(visitor, node, test, branches, mismatch)
    # [end]


def compile_branches(visitor: Visitor, visits: Sequence[Callable[[], Any]]) -> list[Branch]:
    """Run each visit in its own block, with its own copy of the current names. (Given.)"""
    before, branches = visitor.scope, []
    for visit in visits:
        block, visitor.scope = Block(), before.copy()
        with visitor.builder.at_end(block):
            result = visit()
        branches.append(Branch(block, visitor.scope, result))
    visitor.scope = before
    return branches


def join(visitor: Visitor, test: tensor, branches: Sequence[Branch], values: Sequence[Any]) -> Any:
    """Build the `scf.if` from two branches, where branch i has the result `values[i]`. Returns the joined value.

    The caller ensures that both values have the same description (`describe`).
    """
    # [task 5.8] For `(x, y)` and `(z, y)`, build two `scf.yield`s with two handles each and an `scf.if` with two
    # results, and return a tuple of tensors with these results. Given: `handles_in`, `yield_`, `rebuild` from 5.6.
    for branch, value in zip(branches, values, strict=True):
        with visitor.builder.at_end(branch.block):
            yield_(visitor.builder, *handles_in(value))
    regions = [Region([branch.block]) for branch in branches]
    operation = visitor.builder.operation("scf.if", test.handle, regions=regions)
    return rebuild(values[0], operation.results)
    # [end]


def choose(visitor: Visitor, node: ast.expr | ast.stmt, test: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
    """The value of an expression or statement whose result is that of one of two branches.

    If the types differ, raises a `CompilationError` at `node`. Its message is `mismatch`, with the types in place of
    the two `{}`.
    """
    # [task 5.8] `1 if c else x`, with an int32 scalar `x`, is an int32 scalar: the 1 becomes a constant inside its
    # branch. Given: `to_run_time`, `describe`, `join`.
    values = []
    for branch in branches:
        with visitor.builder.at_end(branch.block):
            values.append(to_run_time(branch.result))
    if describe(values[0]) != describe(values[1]):
        raise visitor.error(node, mismatch.format(*map(describe, values)))
    return join(visitor, test, branches, values)
    # [end]


def merge(visitor: Visitor, node: ast.If, test: tensor, branches: Sequence[Branch]) -> None:
    """Build the `scf.if`, and bind the names that its branches write to their new values.

    A name that holds the same object after both branches keeps it. A name is lost (`scope.lose`, with a reason that
    contains the line of the `if`) if it has no value after one branch, or if neither value contains a tensor. It is
    also lost if its value before the `if`, such as None, does not have a type (`has_type`), and one branch does not
    change this value. The values of all other names must `agree`, and become results of the `scf.if`; if they do not
    `agree`, raise `disagreement`. The place of a bound name is its `last_assignment`, so that later errors point there.
    """
    # [task 5.8] After `if c: x = 1.0; y = 2.0` and `else: x = 3.0`, with no `y` before, `x` is a result and `y` is
    # lost. Given: `written` (5.1); the `scope` of a branch.
    scope, place = visitor.scope, visitor.loc(node)
    then, otherwise = (branch.scope for branch in branches)
    crossing: dict[str, tuple[Any, Any]] = {}
    for name in written([*node.body, *node.orelse]):
        value, other, before = then.values.get(name), otherwise.values.get(name), scope.values.get(name)
        is_left = not has_type(before) and (before is value or before is other)
        if value is not None and value is other:
            scope.bind(name, value, last_assignment(name, then, otherwise))
        elif value is None or other is None or is_left or not flatten((value, other)):
            reason = f"not every path through the `if` on line {place.line} gives it a run-time value"
            scope.lose(name, reason, place)
        elif not agree(scope, name, value, other):
            raise disagreement(scope, name, then, otherwise)
        else:
            crossing[name] = value, other
    values = [tuple(pair[i] for pair in crossing.values()) for i in (0, 1)]
    joined = join(visitor, test, branches, values)
    for name, value in zip(crossing, joined, strict=True):
        scope.bind(name, value, last_assignment(name, then, otherwise))
    # [end]


def last_assignment(name: str, then: Scope, otherwise: Scope) -> Loc:
    """Where a name got its value: the later one of its places at the ends of two branches. (Given.)"""
    return max(then.places[name], otherwise.places[name], key=lambda place: (place.line, place.column))


def agree(before: Scope, name: str, value: Any, other: Any) -> bool:
    """Whether a name has the same type after both branches, and before them if it had a value. (Given.)"""
    types, initial = {describe(value), describe(other)}, before.values.get(name)
    if has_type(initial):
        types.add(describe(initial))
    return len(types) == 1


def has_type(value: Any) -> bool:
    """Whether branches must preserve the type of a name with this value: None and dtypes have no type. (Given.)"""
    return bool(flatten(value)) or (isinstance(value, constexpr) and value.value is not None)


def disagreement(before: Scope, name: str, then: Scope, otherwise: Scope) -> CompilationError:
    """The error for a name whose type changes in a branch, or differs after the two branches.

    The message is "Mismatched type for x between then block (fp32[], line 5) and else block (int32[], line 7)". The
    error is located at the later one of the two lines.
    """
    place = last_assignment(name, then, otherwise)
    value, other = describe(then.values[name]), describe(otherwise.values[name])
    if value == other:
        initial = f"{describe(before.values[name])} (line {before.places[name].line})"
        message = f"initial value for {name} is of type {initial}, but the branches redefine it as {value}"
        return CompilationError(message, place)
    # [task 5.9] In the example, `place` is on line 7. Each scope knows where the name got its value.
    message = (
        f"Mismatched type for {name} between then block ({value}, line {then.places[name].line}) "
        f"and else block ({other}, line {otherwise.places[name].line})"
    )
    return CompilationError(message, place)
    # [end]


# --- loops


def visit_For(visitor: Visitor, node: ast.For) -> None:
    """Visit a loop over a `static_range` or a `tl_range`; in a kernel, Python's `range` is a `tl_range`.

    The compiler itself runs a loop over a `static_range`; the kernel runs a loop over a `tl_range`. Raises
    `UnsupportedLanguageConstruct` at `node.iter` for other iterators; the message names both ranges.
    """
    iterator = visitor.visit(node.iter)
    if not isinstance(node.target, ast.Name) or node.orelse:
        raise visitor.error(node, "a `for` in a kernel has one name as its target, and no `else`")
    if isinstance(iterator, tl_range):
        return runtime_for(visitor, node, node.target, iterator)
    # [task 5.5] The message is "Only `range` and `static_range` iterators are currently supported". Given: `unroll`,
    # below.
    if not isinstance(iterator, static_range):
        message = "Only `range` and `static_range` iterators are currently supported"
        raise UnsupportedLanguageConstruct(message, visitor.loc(node.iter))
    unroll(visitor, node, node.target, iterator)
    # [end]


def unroll(visitor: Visitor, node: ast.For, target: ast.Name, iterator: static_range) -> None:
    """Run a loop in the compiler: visit the body once for each value of `iterator`, with the target bound to it."""
    # [task 5.5] `tuple(iterator)` lists the values, each a `constexpr`; for a step of 0, it raises a `ValueError`.
    # Given: `visitor.loop`.
    values = visitor.evaluate(node.iter, tuple, iterator)
    with visitor.loop():
        for value in values:
            visitor.scope.bind(target.id, value, visitor.loc(target))
            visitor.run(node.body)
    # [end]


def runtime_for(visitor: Visitor, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
    """Build a loop that the kernel runs: an `scf.for`.

    The induction variable has the bounds' dtype, and the target is usually bound to it. If the step is known to be
    negative, the loop still counts upward, from the end (`lower`) to the start (`upper`), and the target is bound to
    (upper - induction variable) + lower.
    """
    # [task 5.7] `for i in range(n): total += i` is an `scf.for` that carries `total`. Names that the body binds for the
    # first time must not be visible in the scope around the loop. Given: `for_` (3.5), and the functions
    # below that are marked as given.
    backwards = is_negative(iterator.step)
    lower, upper, step = find_bounds(visitor, node.iter, iterator, backwards)
    carried, before = find_carried(visitor, node), visitor.scope
    with for_(visitor.builder, lower.handle, upper.handle, step.handle, handles_in(tuple(carried.values()))) as loop:
        visitor.scope = before.copy()
        enter(visitor, carried, loop.carried)
        variable = tensor(loop.variable, lower.dtype)
        value = add(sub(upper, variable), lower) if backwards else variable
        visitor.scope.bind(target.id, value, visitor.loc(target))
        yield_(visitor.builder, *visit_body(visitor, node, carried))
    annotate(loop.variable, iterator)
    leave(visitor, node, carried, before, loop.results)
    # [end]


def visit_While(visitor: Visitor, node: ast.While) -> None:
    """Build a loop with a test before each iteration: an `scf.while`.

    Raises `CompilationError` for an `else`, and for a test that is not a single int1. A test known at compile time is
    also an error, because its value would never change.
    """
    # [task 5.8] `while x < n: x += 1` carries `x`. The region `before` contains the test, and forwards all of its
    # arguments; the region `after` contains the loop's statements. Errors about the test point at `node.test`. Given:
    # `while_` (3.5).
    if node.orelse:
        raise visitor.error(node, "a `while` in a kernel has no `else`")
    carried, before = find_carried(visitor, node), visitor.scope
    with while_(visitor.builder, handles_in(tuple(carried.values()))) as loop:
        with loop.before() as arguments:
            visitor.scope = before.copy()
            enter(visitor, carried, arguments)
            test = visitor.visit(node.test)
            if not isinstance(test, tensor):
                message = f"a `while` in a kernel needs a test of the running kernel, not {test!r}"
                raise visitor.error(node.test, message)
            test = to_condition(visitor, node.test, visitor.boolean(node.test, test))
            condition(visitor.builder, test.handle, *arguments)
        with loop.after() as arguments:
            visitor.scope = before.copy()
            enter(visitor, carried, arguments)
            yield_(visitor.builder, *visit_body(visitor, node, carried))
    leave(visitor, node, carried, before, loop.results)
    # [end]


def find_carried(visitor: Visitor, node: ast.For | ast.While) -> Carried:
    """The names that this loop carries, with their values before it."""
    # [task 5.7] For `for i in range(n): x += i; t = x`, where only `x` exists before the loop, return only `x`. A
    # carried value contains a tensor, and the loop's own targets are not carried. Given: `written`, `find_targets`,
    # `flatten`.
    names = set(written(node.body)) - set(find_targets(node))
    return {name: value for name, value in visitor.scope.values.items() if name in names and flatten(value)}
    # [end]


def enter(visitor: Visitor, carried: Carried, handles: Iterable[Value]) -> None:
    """Bind carried names to their values inside the loop, rebuilt from a block's arguments. (Given.)"""
    for name, value in zip(carried, rebuild(tuple(carried.values()), handles), strict=True):
        visitor.scope.bind(name, value, visitor.scope.places[name])


def visit_body(visitor: Visitor, node: ast.For | ast.While, carried: Carried) -> list[Value]:
    """Visit the body. Returns the IR values of the carried names at its end.

    Raises `CompilationError` for a carried name that is lost or changes its type, and for a new value of a name whose
    value was known at compile time.
    """
    # [task 5.7] A `return` in the body is an error (`visitor.loop`). Given: `check_known`; `changed`, which makes the
    # error. Both take the scope as it was at the start of the body; `run` changes `visitor.scope` in place.
    before = visitor.scope.copy()
    with visitor.loop():
        visitor.run(node.body)
    check_known(visitor, node, before)
    for name, initial in carried.items():
        if describe(visitor.scope.values.get(name)) != describe(initial):
            raise changed(visitor.scope, name, initial, before)
    return [handle for name in carried for handle in handles_in(visitor.scope.values[name])]
    # [end]


def leave(
    visitor: Visitor, node: ast.For | ast.While, carried: Carried, before: Scope, results: Iterable[Value]
) -> None:
    """Restore the scope `before` the loop. (Given.)

    Carried names hold the loop's results; names that have a value only inside the loop are lost.
    """
    visitor.scope, place, targets = before, visitor.loc(node), find_targets(node)
    for name in (*targets, *written(node.body)):
        if name not in before.values or name in targets:
            reason = f"it has a value only inside the loop on line {place.line}"
            if name in targets:  # real Triton compiles this to an undefined value
                reason += f"; to keep its last value, assign {name} in the loop to a variable that exists before it"
            before.lose(name, reason, place)
    enter(visitor, carried, results)


def changed(scope: Scope, name: str, initial: Any, before: Scope) -> CompilationError:
    """The error for a carried name whose type differs from that of `initial`.

    It is located at the name's last assignment in the loop. The message is "Loop-carried variable acc has initial type
    int32[] (line 3) but is re-assigned to fp32[] in loop! Please make sure that the type stays consistent."
    """
    if name in scope.lost:  # the target of an inner loop
        return CompilationError(f"{name} is lost in the loop: {scope.lost[name]}", scope.places[name])
    # [task 5.7] In the example, line 3 is the assignment before the loop. A scope's `places` maps each name to the
    # location of its assignment.
    return CompilationError(
        f"Loop-carried variable {name} has initial type {describe(initial)} (line {before.places[name].line}) "
        f"but is re-assigned to {describe(scope.values[name])} in loop! "
        "Please make sure that the type stays consistent.",
        scope.places[name],
    )
    # [end]


def check_known(visitor: Visitor, node: ast.For | ast.While, before: Scope) -> None:
    """Raise `CompilationError` for a name whose value was known at compile time before the body, and has changed.

    The target of an unrolled inner loop may change. (Given.)
    """
    unrolled = [visitor.loc(inner.target) for inner in ast.walk(node) if isinstance(inner, ast.For)]
    for name, value in before.values.items():
        known, place = not flatten(value), visitor.scope.places[name]
        if known and visitor.scope.values.get(name) is not value and place not in unrolled:
            message = f"cannot reassign constexpr {name} in the loop: its body is compiled once, for all iterations"
            raise CompilationError(message, place)


# --- helpers (given)


def handles_in(value: Any) -> list[Value]:
    """The IR values in a value, from left to right. (Given.)"""
    return [part.handle for part in flatten(value)]


def find_return(node: ast.AST) -> ast.Return | None:
    """A `return` statement inside `node`, if there is one. (Given.)"""
    return next((inner for inner in ast.walk(node) if isinstance(inner, ast.Return)), None)


def refuse_return(visitor: Visitor, node: ast.Return) -> NoReturn:
    """Raise the error for a `return` in a loop. (Given.)"""
    message = "Cannot have `return` statements inside `while` or `for` statements in triton"
    raise UnsupportedLanguageConstruct(message, visitor.loc(node))


def find_targets(node: ast.For | ast.While) -> list[str]:
    """The names that the loop itself binds. (Given.)"""
    return written([node.target]) if isinstance(node, ast.For) else []


def find_bounds(visitor: Visitor, node: ast.expr, iterator: tl_range, backwards: bool) -> list[tensor]:
    """Start, end and step of a loop as scalars of one integer dtype. (Given.)

    If `backwards`, they are converted to those of a loop that counts upward.
    """
    start, end, step = iterator.start, iterator.stop, iterator.step
    if backwards:
        start, end, step = end, start, -unwrap(step)
    values = [visitor.evaluate(node, to_tensor, bound) for bound in (start, end, step)]
    for value in values:
        if value.shape or value.dtype.is_ptr() or not value.dtype.is_int():
            raise visitor.error(node, f"For loop bounds and step must all be integer scalars, not {value!r}")
    dtype = promote(promote(values[0].dtype, values[1].dtype), values[2].dtype)
    return [widen(value, dtype) for value in values]


def widen(value: tensor, dtype: dtype) -> tensor:
    """Convert a bound to the common dtype. As in Triton, extend the sign if this dtype is signed. (Given.)"""
    if value.dtype.primitive_bitwidth == dtype.primitive_bitwidth:
        return tensor(value.handle, dtype)
    extension = "arith.extsi" if dtype.signed else "arith.extui"
    return tensor(current().cast(value.handle, [(extension, dtype)]), dtype)


def is_negative(step: Any) -> bool:
    """Whether a step is known to be negative. (Given.)"""
    return isinstance(unwrap(step), int) and unwrap(step) < 0


def annotate(variable: BlockArgument, iterator: tl_range) -> None:
    """Record facts about a loop for real Triton's compiler. Call it after the `with` that builds the loop. (Given.)

    The facts are the options of `tl.range`, and promises about carried values, such as `tl.multiple_of`. As in Triton,
    they are attached to the loop and to its initial values.
    """
    block = variable.owner
    assert block.parent is not None and block.parent.parent is not None
    loop = block.parent.parent
    loop.attributes.update(iterator.attributes)
    for argument, init in zip(block.arguments[1:], loop.operands[3:], strict=True):
        for name, values in argument.attributes.items():
            loop.attributes[f"{name}_arg{argument.index}"] = values
            annotated(init).setdefault(name, values)
