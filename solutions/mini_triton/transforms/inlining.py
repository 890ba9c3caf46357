"""Inlining: a call becomes the body of the function that it calls.

Our front end compiles calls in place. So only modules that were parsed have calls: what real Triton's front end makes.
Back ends do not know `tt.call`.

Source: MLIR's `Inliner.cpp`; `noinline` in Triton's `python/triton/runtime/jit.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from mini_triton.errors import CompilationError
from mini_triton.ir.core import Block, Operation, Region, Value


def inline_calls(module: Operation) -> bool:
    """Replace each call by what its callee does, and erase the private functions; whether there were any.

    Raises `CompilationError` for a function that calls itself, directly or through others.
    """
    # [task 9.7] Callees come before their callers, so that what is copied has no calls: `refuse_recursion` tells that
    # this ends.
    functions = {str(f.attributes["sym_name"]): f for f in module.regions[0].block.operations}
    for function in functions.values():
        refuse_recursion(function, functions, ())
    while calls := [operation for operation in module.walk() if operation.name == "tt.call"]:
        for call in calls:
            inline(call, functions[str(call.attributes["callee"])])
    private = [f for f in functions.values() if f.attributes.get("sym_visibility") == "private"]
    for function in private:
        function.erase()
    return bool(private)
    # [end]


def refuse_recursion(function: Operation, functions: Mapping[str, Operation], callers: tuple[str, ...]) -> None:
    """Raise `CompilationError` if a function is among the `callers` that lead to it, or leads back to itself."""
    # [task 9.7] The message has the way in a circle: "f calls itself: f -> g -> f".
    name = str(function.attributes["sym_name"])
    if name in callers:
        circle = " -> ".join((*callers[callers.index(name) :], name))
        raise CompilationError(f"{name} calls itself, which kernels cannot: {circle}", function.loc)
    for callee in dict.fromkeys(str(o.attributes["callee"]) for o in function.walk() if o.name == "tt.call"):
        refuse_recursion(functions[callee], functions, (*callers, name))
    # [end]


def inline(call: Operation, callee: Operation) -> None:
    """Put a copy of the callee's body in the place of a call. What the body returns are the results."""
    # [task 9.7] `copy` notes, for each value that it copies, the new one.
    body = callee.regions[0].block
    values: dict[Value, Value] = dict(zip(body.arguments, call.operands, strict=True))
    assert call.parent is not None and body.terminator is not None
    for operation in body.operations[:-1]:
        call.parent.insert(call.parent.operations.index(call), copy(operation, values))
    for result, returned in zip(call.results, body.terminator.operands, strict=True):
        result.replace_all_uses_with(values[returned])
    call.erase()
    # [end]


def copy(operation: Operation, values: dict[Value, Value]) -> Operation:
    """A copy of an operation, and of all inside it, with new values for those that `values` has; its results join them.

    Values that `values` does not have stay as they are.
    """
    # [task 9.7] Blocks have arguments, which are values too.
    operands = [values.get(operand, operand) for operand in operation.operands]
    regions = []
    for region in operation.regions:
        regions.append(Region())
        for block in region.blocks:
            new = regions[-1].append(Block([a.type for a in block.arguments], [a.name for a in block.arguments]))
            values.update(zip(block.arguments, new.arguments, strict=True))
            for inner in block.operations:
                new.append(copy(inner, values))
    types = [result.type for result in operation.results]
    copied = Operation(operation.name, operands, types, operation.attributes, regions, operation.loc)
    for old, result in zip(operation.results, copied.results, strict=True):
        result.name = old.name
        values[old] = result
    return copied
    # [end]
