"""Inlining: a call becomes the body of the function that it calls.

Our front end compiles calls in place. So only modules that were parsed have calls: what real Triton's front end makes.
Back ends do not know `tt.call`: functions marked `noinline` are inlined as well.

Source: MLIR's `Inliner.cpp` and `InliningUtils.cpp`; `TritonInlinerInterface` in Triton's `Dialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping

from mini_triton.errors import CompilationError
from mini_triton.ir.core import Block, Operation, Region, Value
from mini_triton.transforms.structure import blocks_of, insert, replace_by, terminator


def inline_calls(module: Operation) -> bool:
    """Replace each call by what its callee does, and erase the private functions. (Given.)

    Returns whether there were any. Raises `CompilationError` for a function that calls itself, perhaps through others.
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
    """Inline all calls in a function of these `functions`, by name. The `callers` are those on the way to it.

    Raises `CompilationError` if the function is one of its callers. The message has the way in a circle:
    "f calls itself: f -> g -> f".
    """
    # Task 9.7: The attribute `callee` of a `tt.call` names a function. `inline` copies its body, with the calls that
    # are in it: so in which order do functions come?
    raise NotImplementedError("Task 9.7: Inlining")


def inline(call: Operation, callee: Operation) -> None:
    """Put a copy of the callee's body in the place of a call. What the body returns takes the place of the results."""
    # Task 9.7: `copy` notes, for each value that it copies, the new one. `insert` and `replace_by` change the caller.
    raise NotImplementedError("Task 9.7: Inlining")


def copy(operation: Operation, values: dict[Value, Value]) -> Operation:
    """A copy of an operation, and of all inside it, which uses the values that `values` has in the place of others.

        %y = arith.addi %x, %k        with values {%x: %a}
        %z = arith.addi %a, %k        is the copy, and values are {%x: %a, %y: %z}

    New results, and new arguments of blocks, join `values`. They have the old ones' names.
    """
    # Task 9.7: `Operation(name, operands, types, attributes, regions, loc)` makes one, `Region.append` and
    # `Block.append` fill it.
    raise NotImplementedError("Task 9.7: Inlining")
