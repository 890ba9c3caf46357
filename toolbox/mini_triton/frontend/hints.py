"""Messages about Python that kernels cannot use, with what to write instead."""

from __future__ import annotations

import ast
from typing import Any

import mini_triton.language as tl

CONVERSIONS: dict[Any, str] = {int: ": write x.to(tl.int32)", float: ": write x.to(tl.float32)", bool: ": write x != 0"}
"""Advice by type of Python, for values that only a running program knows."""

CONSTRUCTS = {
    **dict.fromkeys(("Lambda", "FunctionDef"), ": write another function with @triton.jit, outside of the kernel"),
    **dict.fromkeys(("Import", "ImportFrom"), ": import at the top of the file"),
    **dict.fromkeys(("Break", "Continue"), ": put the condition into `while` or `if`"),
    **dict.fromkeys(("List", "Dict", "Set"), ": write a tuple"),
    "MatMult": ": write tl.dot(a, b)",
}
"""Advice by kind of node in the syntax tree."""


def suggest(name: str) -> str:
    """A hint to write `tl.name`; "" if the language has no such name."""
    return f": write tl.{name}" if hasattr(tl, name) else ""


def explain_construct(construct: ast.AST) -> str:
    """The message for a part of the syntax tree that kernels cannot use."""
    name = type(construct).__name__
    return f"unsupported AST node type: {name}{CONSTRUCTS.get(name, '')}"


def explain_callee(called: ast.expr, function: Any) -> str:
    """The message for a function of Python that a kernel calls."""
    if isinstance(called, ast.Subscript):
        return f"a kernel cannot launch a grid: call {ast.unparse(called.value)}(...)"
    advice = suggest(getattr(function, "__name__", "")) or ": decorate it with @jit or @constexpr_function"
    return f"{ast.unparse(called)} cannot be called in a kernel{advice}"


def explain_unknown(function: Any) -> str:
    """The message for a function of compile-time values that a kernel calls with a run-time value."""
    advice = suggest(function.__name__) or CONVERSIONS.get(function, "")
    return f"{function.__name__} is computed by the compiler, which does not know its argument{advice}"
