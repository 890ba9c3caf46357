"""Task 5.1: the names that a piece of source gives values, and those whose values it uses, as Python itself does it."""

from __future__ import annotations

import ast
import dis
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.frontend.names import read, written

from tests.checks import described

Function = Callable[[Iterable[ast.AST]], list[str]]


def asked(function: Function, text: str, expected: Iterable[str], because: str) -> None:
    """The names that the function finds in a text are these."""
    __tracebackhide__ = True
    lines = text.replace("\n", "\n    ")
    described(f"{function.__name__}, of the statements\n    {lines}", function, ast.parse(text).body).returns(
        list(expected), because
    )


# --- beside Python


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
Line = tuple[int, str, list[str]]  # how far to the right, a template, the names in it

lines = st.tuples(
    st.integers(0, 3),
    st.sampled_from((*SIMPLE, *HEADS)),
    st.lists(st.sampled_from(("a", "b", "c", "acc", "i")), min_size=3, max_size=3),
)


def program(lines: list[Line]) -> str:
    """The lines one below the other; as far to the right as Python allows."""
    written: list[str] = []
    deepest = 0
    for depth, template, names in lines:
        if depth < deepest and written[-1].endswith(":"):
            written.append("    " * deepest + "pass")
        depth = min(depth, deepest)
        written += ["    " * depth + line for line in template.format(*names).splitlines()]
        deepest = depth + (template in HEADS)
    return "\n".join([*written, "    " * deepest + "pass"])


@given(st.lists(lines, min_size=1, max_size=6).map(program))
def test_what_gets_a_value(text: str) -> None:
    expected = done_by_python(text, "STORE_NAME")
    asked(written, text, expected, "these are the names that Python stores to, in the order of the text")


@given(st.lists(lines, min_size=1, max_size=6).map(program))
def test_what_is_used(text: str) -> None:
    expected = done_by_python(text, "LOAD_NAME")
    asked(read, text, expected, "these are the names that Python loads, in the order of the text")


# --- pointed

CASES = {
    "acc += a * b": (["acc"], ["acc", "a", "b"]),
    "acc = acc + 1": (["acc"], ["acc"]),
    "b = a\na = b": (["b", "a"], ["a", "b"]),
    "for i in range(0, n, B):\n    acc += tl.load(x + i)": (["i", "acc"], ["range", "n", "B", "acc", "tl", "x", "i"]),
    "if c:\n    x = 1\nelse:\n    y = x": (["x", "y"], ["c", "x"]),
    "while n > 0:\n    n -= 1": (["n"], ["n"]),
    "x, (y, z) = f(x)": (["x", "y", "z"], ["f", "x"]),
    "x.shape = y\nx[i] += y": ([], ["x", "y", "i"]),
    "tl.store(p, value=v)": ([], ["tl", "p", "v"]),
    "return x": ([], ["x"]),
    "N = tl.constexpr(4)": (["N"], ["tl"]),
    "if (n := f(x)) > 0:\n    pass": (["n"], ["f", "x"]),
    "pass": ([], []),
}


@pytest.mark.parametrize("text", CASES)
def test_kinds_of_statements(text: str) -> None:
    stored, loaded = CASES[text]
    asked(written, text, stored, "these get a value")
    asked(read, text, loaded, "the values of these are used")


def test_a_constant_gets_a_value() -> None:
    asked(written, "N: tl.constexpr = 4", ["N"], "an annotated assignment is one, too")


def test_any_nodes_will_do() -> None:
    """Expressions as well as statements; nodes one after the other, in any collection, also one that is used up."""
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


def test_the_order_is_that_of_the_text() -> None:
    """Not that in which `ast.walk` finds them, nor that of the alphabet."""
    text = "if c:\n    if d:\n        z = (f(g), h)[i]\n    y = after\nx = last"
    asked(written, text, ["z", "y", "x"], "the text is read from its top")
    asked(read, text, ["c", "d", "f", "g", "h", "i", "after", "last"], "the text is read from its top")
    asked(written, "(c, (b, d)), a = x", ["c", "b", "d", "a"], "the text is read from the left")
