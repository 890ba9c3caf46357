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
    # Task 5.5: The test is known at compile time, so the side that is not taken may be invalid. Given: `holds`.
    raise NotImplementedError("Task 5.5: What the compiler decides")


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
    # Task 5.8: An int32 scalar or a pointer is true if it is not zero. For a tensor with one element, such as an
    # int32[1], take the element out with `tt.unsplat`, which keeps the dtype, and then convert it. For an int1[8],
    # raise the error "Boolean value of Tensor with more than one value is ambiguous". Given: `convert`.
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


def runtime_if(visitor: Visitor, node: ast.If, test: tensor, rest: Sequence[ast.stmt]) -> Any:
    """Compile an `if` on a run-time condition, and `rest`. Returns their result."""
    found = find_return(node)
    if found and visitor.in_loop:  # even if the `return` is unreachable
        refuse_return(visitor, found)
    # Task 5.8: If there is no `return` (`found`), `rest` must be compiled only once. If there is one, the result is
    # one of two values; if their types differ, raise the error "Return type mismatch: int32[] and fp32[]". Given:
    # `compile_branches`, which takes two functions without parameters.
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


def visit_IfExp(visitor: Visitor, node: ast.IfExp) -> Any:
    """`x if condition else y`"""
    # Task 5.8: If the condition is known at compile time, visit one side; any value may be the result. Otherwise,
    # compile both sides; if their types differ, raise the error "Ternary expression with dynamic condition has
    # inconsistent types int32[] and fp32[]".
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


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
    # Task 5.8: For `(x, y)` and `(z, y)`, build two `scf.yield`s with two handles each and an `scf.if` with two
    # results, and return a tuple of tensors with these results. Given: `handles_in`, `yield_`, `rebuild` from 5.6.
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


def choose(visitor: Visitor, node: ast.expr | ast.stmt, test: tensor, branches: Sequence[Branch], mismatch: str) -> Any:
    """The value of an expression or statement whose result is that of one of two branches.

    If the types differ, raises a `CompilationError` at `node`. Its message is `mismatch`, with the types in place of
    the two `{}`.
    """
    # Task 5.8: `1 if c else x`, with an int32 scalar `x`, is an int32 scalar: the 1 becomes a constant inside its
    # branch. Given: `to_run_time`, `describe`, `join`.
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


def merge(visitor: Visitor, node: ast.If, test: tensor, branches: Sequence[Branch]) -> None:
    """Build the `scf.if`, and bind the names that its branches write to their new values.

    A name that holds the same object after both branches keeps it. A name is lost (`scope.lose`, with a reason that
    contains the line of the `if`) if it has no value after one branch, or if neither value contains a tensor. It is
    also lost if its value before the `if`, such as None, does not have a type (`has_type`), and one branch does not
    change this value. The values of all other names must `agree`, and become results of the `scf.if`; if they do not
    `agree`, raise `disagreement`. The place of a bound name is its `last_assignment`, so that later errors point there.
    """
    # Task 5.8: After `if c: x = 1.0; y = 2.0` and `else: x = 3.0`, with no `y` before, `x` is a result and `y` is
    # lost. Given: `written` (5.1); the `scope` of a branch.
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


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
    # Task 5.9: In the example, `place` is on line 7. Each scope knows where the name got its value.
    raise NotImplementedError("Task 5.9: Errors that point at the line")


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
    # Task 5.5: The message is "Only `range` and `static_range` iterators are currently supported". Given: `unroll`,
    # below.
    raise NotImplementedError("Task 5.5: What the compiler decides")


def unroll(visitor: Visitor, node: ast.For, target: ast.Name, iterator: static_range) -> None:
    """Run a loop in the compiler: visit the body once for each value of `iterator`, with the target bound to it."""
    # Task 5.5: `tuple(iterator)` lists the values, each a `constexpr`; for a step of 0, it raises a `ValueError`.
    # Given: `visitor.loop`.
    raise NotImplementedError("Task 5.5: What the compiler decides")


def runtime_for(visitor: Visitor, node: ast.For, target: ast.Name, iterator: tl_range) -> None:
    """Build a loop that the kernel runs: an `scf.for`.

    The induction variable has the bounds' dtype, and the target is usually bound to it. If the step is known to be
    negative, the loop still counts upward, from the end (`lower`) to the start (`upper`), and the target is bound to
    (upper - induction variable) + lower.
    """
    # Task 5.7: `for i in range(n): total += i` is an `scf.for` that carries `total`. Names that the body binds for the
    # first time must not be visible in the scope around the loop. Given: `for_` (3.5), and the functions
    # below that are marked as given.
    raise NotImplementedError("Task 5.7: for")


def visit_While(visitor: Visitor, node: ast.While) -> None:
    """Build a loop with a test before each iteration: an `scf.while`.

    Raises `CompilationError` for an `else`, and for a test that is not a single int1. A test known at compile time is
    also an error, because its value would never change.
    """
    # Task 5.8: `while x < n: x += 1` carries `x`. The region `before` contains the test, and forwards all of its
    # arguments; the region `after` contains the loop's statements. Errors about the test point at `node.test`. Given:
    # `while_` (3.5).
    raise NotImplementedError("Task 5.8: if, while, conditional expressions")


def find_carried(visitor: Visitor, node: ast.For | ast.While) -> Carried:
    """The names that this loop carries, with their values before it."""
    # Task 5.7: For `for i in range(n): x += i; t = x`, where only `x` exists before the loop, return only `x`. A
    # carried value contains a tensor, and the loop's own targets are not carried. Given: `written`, `find_targets`,
    # `flatten`.
    raise NotImplementedError("Task 5.7: for")


def enter(visitor: Visitor, carried: Carried, handles: Iterable[Value]) -> None:
    """Bind carried names to their values inside the loop, rebuilt from a block's arguments. (Given.)"""
    for name, value in zip(carried, rebuild(tuple(carried.values()), handles), strict=True):
        visitor.scope.bind(name, value, visitor.scope.places[name])


def visit_body(visitor: Visitor, node: ast.For | ast.While, carried: Carried) -> list[Value]:
    """Visit the body. Returns the IR values of the carried names at its end.

    Raises `CompilationError` for a carried name that is lost or changes its type, and for a new value of a name whose
    value was known at compile time.
    """
    # Task 5.7: A `return` in the body is an error (`visitor.loop`). Given: `check_known`; `changed`, which makes the
    # error. Both take the scope as it was at the start of the body; `run` changes `visitor.scope` in place.
    raise NotImplementedError("Task 5.7: for")


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
    # Task 5.7: In the example, line 3 is the assignment before the loop. A scope's `places` maps each name to the
    # location of its assignment.
    raise NotImplementedError("Task 5.7: for")


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
