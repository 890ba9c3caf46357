"""Inlining: a call becomes the body of the function that it calls.

Our front end compiles calls in place, but real Triton's does not, so parsed modules may contain calls. Our back ends do
not support `tt.call`, so even functions marked `noinline` are inlined.

Source: MLIR's `Inliner.cpp` and `InliningUtils.cpp`; `TritonInlinerInterface` in Triton's `Dialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping

from mini_triton.errors import CompilationError
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.transforms.structure import blocks_of, insert, replace_by, terminator


def inline_calls(module: Operation) -> bool:
    """Replace each call by a copy of its callee's body, and erase the private functions. (Given.)

    Returns whether anything changed. Raises `CompilationError` if a function calls itself, even indirectly.
    """
    functions = {str(function.attributes["sym_name"]): function for function in module.regions[0].block.operations}
    changed = any(operation.name == "tt.call" for operation in module.walk())
    for function in functions.values():
        finish(function, functions)
    for function in functions.values():
        if function.attributes.get("sym_visibility") == "private":
            function.erase()
            changed = True
    return changed


def finish(function: Operation, functions: Mapping[str, Operation], callers: tuple[str, ...] = ()) -> None:
    """Inline all calls in a function.

    `functions` maps names to functions; `callers` holds the names of the function's callers, outermost first.

    Raises `CompilationError` if the function is one of its own callers. The message shows the cycle: "f calls itself,
    which kernels cannot do: f -> g -> f".
    """
    # Task 9.7: If f calls g, and g calls h, then f ends up without calls: which call comes first? The attribute
    # `callee` of a `tt.call` names a function. Given: `inline`, below, which copies a body, including its calls.
    raise NotImplementedError("Task 9.7: Inlining")


def inline(call: Operation, callee: Operation) -> None:
    """Replace a call by a copy of the callee's body, and the call's results by the values that the body returns."""
    # Task 9.7: `%r = tt.call @double(%a)`, where @double(%x) is `%y = addi %x, %x; tt.return %y`, becomes `%y1 = addi
    # %a, %a`, and users of %r use %y1. Given: `copy`; `insert(operation, before)`; `replace_by(call, values)`.
    raise NotImplementedError("Task 9.7: Inlining")


def copy(operation: Operation, values: dict[Value, Value]) -> Operation:
    """A copy of an operation and of all operations inside it, with `values[x]` in place of each `x` in `values`.

        %y = arith.addi %x, %k        the operation; `values` is {%x: %a}
        %z = arith.addi %a, %k        the copy; `values` is now {%x: %a, %y: %z}

    Adds the new results and block arguments to `values`, and gives them the names of the old results and arguments.
    """
    # Task 9.7: A value that is not in `values` is defined outside the operation and stays. Given:
    # `Operation(name, operands, types, attributes, regions, loc)`, `Block(types, names)`; the method `append` of
    # regions and of blocks.
    raise NotImplementedError("Task 9.7: Inlining")
