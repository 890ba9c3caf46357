"""Task 0.1: the syntax tree of a function, from its source."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

from first.kernels import add
from first.slice import read

from tests.checks import described
from tests.support.m00_first.kernels import KERNELS, function

OUTER = """\
def outer():
    def inner(x, n):
        at = x + n

        return at
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
    """`read` gives the tree that Python makes of this text."""
    call = described(f"read({name})", read, read_function)
    got, expected = call.succeeds("its syntax tree"), ast.parse(text).body[0]
    if not isinstance(got, ast.FunctionDef):
        call.fail("an ast.FunctionDef", got, because="a function's definition is one statement")
    if ast.dump(got) != ast.dump(expected):
        call.fail(ast.dump(expected), ast.dump(got), because="that is Python's own tree of the function's source")


def test_kernels() -> None:
    for name, text in KERNELS.items():
        insist(name, function(text), text)


def test_one_of_several() -> None:
    for name, text in zip(("one", "two", "three"), SEVERAL.split("\n\n\n"), strict=True):
        insist(name, function(SEVERAL, name), text)


def test_a_function_inside_another() -> None:
    inner = textwrap.dedent("\n".join(OUTER.splitlines()[1:-1]))
    insist("inner", function(OUTER)(), inner)


def test_the_afternoons_kernel() -> None:
    call = described("read(add)", read, add)
    if (got := call.succeeds("its syntax tree")).name != "add":
        call.fail("a tree whose name is 'add'", got.name)
