"""Task 5.1: the names that statements assign, and the names that they read, compared with Python's compiler."""

import ast
import dis
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from mini_triton.frontend.names import read, written

from tests.checks import described
from tests.support.m05_frontend.compilation import programs

Function = Callable[[Iterable[ast.AST]], list[str]]


def asked(function: Function, text: str, expected: Iterable[str], because: str) -> None:
    """Require that the function finds these names in a text."""
    __tracebackhide__ = True
    lines = text.replace("\n", "\n    ")
    described(f"{function.__name__}, of the statements\n    {lines}", function, ast.parse(text).body).returns(
        list(expected), because
    )


# --- kinds of statements

CASES = {
    "acc += a * b": (["acc"], ["acc", "a", "b"]),
    "b = a\na = b": (["b", "a"], ["a", "b"]),
    "for i in range(0, n, B):\n    acc += tl.load(x + i)": (["i", "acc"], ["range", "n", "B", "acc", "tl", "x", "i"]),
    "x, (y, z) = f(x)": (["x", "y", "z"], ["f", "x"]),
    "x.shape = y\nx[i] += y": ([], ["x", "y", "i"]),
    "x = y\ndel x, z": (["x"], ["y"]),
    "pass": ([], []),
    # Names come in the order of the text, which differs from the order of `ast.walk` and from the alphabetical order.
    "if c:\n    if d:\n        z = (f(g), h)[i]\n    y = after\nx = last": (
        ["z", "y", "x"],
        ["c", "d", "f", "g", "h", "i", "after", "last"],
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_kinds_of_statements(text: str) -> None:
    stored, loaded = CASES[text]
    asked(written, text, stored, "these names are assigned")
    asked(read, text, loaded, "these names are read")


def test_an_annotated_assignment() -> None:
    asked(written, "N: tl.constexpr = 4", ["N"], "an annotated assignment also counts")


# --- compared with Python


def done_by_python(text: str, instruction: str) -> list[str]:
    """The names that Python's own compiler loads (LOAD_NAME) or stores (STORE_NAME), in the order of the text."""
    found = {}
    for step in dis.get_instructions(compile(text, "kernel.py", "exec")):
        if step.opname == instruction and step.positions:
            found[step.positions.lineno or 0, step.positions.col_offset or 0] = step.argval
    return list(dict.fromkeys(found[place] for place in sorted(found)))


SIMPLE = (
    "{0} = {1}",
    "{0} = {1} if {2} else {0}",
    "{0} = {1} = {2} + {0}",
    "{0}, ({1}, {2}) = {2}, {0}",
    "({0}, {1}), {2} = {1}(({2}, {0}), {2})",
    "[{0}, *{1}] = {2}[{0}:{1}]",
    "{0} += {1} * {2}",
    "{0}[{1}] *= {2}",
    "{0}.a = {1}({2}, b={0})",
    "{0}[{1}, :] = -{2}.b",
    "{0}({1} < {2} and not {0})",
    "({0} := {1} + ({2} := 1))",
    "if {0}:\n    {1} = 0\nelse:\n    {2} = {1}",
    "pass",
)
HEADS = ("if {0} > {1}:", "for {0} in {1}({2}):", "for {0}, {1} in {2}:", "while {0}({1}, {2}):")


@given(programs(SIMPLE, HEADS, most=6))
def test_beside_python(text: str) -> None:
    stored, loaded = done_by_python(text, "STORE_NAME"), done_by_python(text, "LOAD_NAME")
    asked(written, text, stored, "these are the names that Python stores to, in the order of the text")
    asked(read, text, loaded, "these are the names that Python loads, in the order of the text")


def test_any_collection_of_nodes() -> None:
    """The functions accept expressions and statements in any collection, even an iterator."""
    (loop,) = ast.parse("for i, j in f(n):\n    k += i").body
    assert isinstance(loop, ast.For)
    for nodes, stored, loaded in (
        ([loop.target], ["i", "j"], []),
        ([loop.iter], [], ["f", "n"]),
        (loop.body, ["k"], ["k", "i"]),
        ([loop.target, *loop.body], ["i", "j", "k"], ["k", "i"]),
        ([], [], []),
    ):
        shown = [ast.unparse(node) for node in nodes]
        for collection in (list, tuple, iter):
            described(f"written({collection.__name__}({shown}))", written, collection(nodes)).returns(stored)
            described(f"read({collection.__name__}({shown}))", read, collection(nodes)).returns(loaded)
