"""Task 0.1: `read` parses a function's source; the line numbers of the tree are those of the source file."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from first.kernels import add
from first.slice import read

from tests.checks import described
from tests.support.m00_first.kernels import KERNELS, function

OUTER = """\
# A comment in line 1.


def outer():
    def inner(x, n):
        at = x + n

        return at
    return inner


def other():
    if True:
        def inner(x):
            return x * 2
    return inner
"""
SEVERAL = """\
def one(a):
    return a


def two(b):
    return b * 2


def three(c): return c
"""


def insist(name: str, read_function: Callable[..., Any], text: str) -> None:
    """Require that `read` returns the syntax tree that Python's parser builds for this function."""
    line, file = read_function.__code__.co_firstlineno, Path(read_function.__code__.co_filename).name
    call = described(f"read({name}), where {name} begins in line {line} of {file}", read, read_function)
    got = call.succeeds("its syntax tree")
    if not isinstance(got, ast.FunctionDef):
        call.fail("an ast.FunctionDef", got, because="a function's definition is one statement")
    nodes = ast.walk(ast.parse(text))
    (expected,) = (node for node in nodes if isinstance(node, ast.FunctionDef) and node.lineno == line)
    if ast.dump(got) != ast.dump(expected):
        call.fail(ast.dump(expected), ast.dump(got), because="this is the tree that Python's parser builds")
    if (lines := numbered(got)) != numbered(expected):
        call.fail(
            f"lines {numbered(expected)} of the definition and all nodes in it",
            f"lines {lines}",
            because=f"`lineno` counts from the first line of {file}",
        )


def numbered(function: ast.FunctionDef) -> list[int]:
    """The lines of the definition, and of each statement, expression and argument in it."""
    return [node.lineno for node in ast.walk(function) if hasattr(node, "lineno")]


def test_kernels() -> None:
    for name, text in KERNELS.items():
        insist(name, function(text), text)


def test_one_of_several() -> None:
    for name in ("one", "two", "three"):
        insist(name, function(SEVERAL, name), SEVERAL)


def test_a_function_inside_another() -> None:
    insist("inner", function(OUTER, "outer")(), OUTER)


def test_another_of_the_same_name() -> None:
    insist("inner", function(OUTER, "other")(), OUTER)


def test_the_afternoons_kernel() -> None:
    call = described("read(add)", read, add)
    got = call.succeeds("its syntax tree")
    if (got.name, got.lineno) != ("add", add.__code__.co_firstlineno):
        line = add.__code__.co_firstlineno
        call.fail(f"the function 'add' in line {line} of first/kernels.py", f"{got.name!r} in line {got.lineno}")
