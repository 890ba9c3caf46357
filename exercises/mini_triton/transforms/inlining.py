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
    # Task 9.7: Callees come before their callers, so that what is copied has no calls: `refuse_recursion` tells that
    # this ends.
    raise NotImplementedError("Task 9.7: Inlining")


def refuse_recursion(function: Operation, functions: Mapping[str, Operation], callers: tuple[str, ...]) -> None:
    """Raise `CompilationError` if a function is among the `callers` that lead to it, or leads back to itself."""
    # Task 9.7: The message has the way in a circle: "f calls itself: f -> g -> f".
    raise NotImplementedError("Task 9.7: Inlining")


def inline(call: Operation, callee: Operation) -> None:
    """Put a copy of the callee's body in the place of a call. What the body returns are the results."""
    # Task 9.7: `copy` notes, for each value that it copies, the new one.
    raise NotImplementedError("Task 9.7: Inlining")


def copy(operation: Operation, values: dict[Value, Value]) -> Operation:
    """A copy of an operation, and of all inside it, with new values for those that `values` has; its results join them.

    Values that `values` does not have stay as they are.
    """
    # Task 9.7: Blocks have arguments, which are values too.
    raise NotImplementedError("Task 9.7: Inlining")
