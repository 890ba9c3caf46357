"""Task 5.4: assignments, and kernels that call kernels, compared with real Triton's front end."""

from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import Loc
from mini_triton.frontend.names import Scope

from tests.oracles import triton
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import fail, judge, judge_as, kernel, outcome, printing, refuses, sketch

# --- assignments

NAMES = ("a", "b", "c")
ASSIGNMENTS = (
    *("{0} = {1}", "{0} = {1} + {2}", "{0} = 3", "{0} = 0.5", "{0} = {1} * 2", "{0} = n", "{0} = f", "{0} = N"),
    *("{0}, {1} = {1}, {2}", "{0}, {1} = {2}, 1", "{0} = {1}, {2}", "{0}, {1} = {2}[0], {2}[1]", "{0} = h"),
    *("({0}, {1}), {2} = (n, {0}), 4", "{0} += {1}", "{0} -= 1", "{0} *= h", "{0} = {1}[1]", "{0} = ({1}, (2, f))"),
)
statements = st.tuples(st.sampled_from(ASSIGNMENTS), st.tuples(*[st.sampled_from(NAMES)] * 3))


@given(st.lists(statements, min_size=1, max_size=8), st.sampled_from(("a", "(a, b, c)[1]", "c * h", "tl.arange(0, a)")))
def test_assignments(lines: list[tuple[str, tuple[str, str, str]]], last: str) -> None:
    """Names get values and tuples. Both compilers refuse the same unbound names, indices and sums."""
    body = [template.format(*names) for template, names in lines]
    judge([sketch("\n".join(["a, b, c = n, f, 2", *body, printing(last)]))])


def test_a_number_with_a_name_is_a_tensor() -> None:
    """A named number is no longer weak, and the compiler does not know its value. Numbers in a tuple behave alike."""
    values = {"0.5": "s", "3": "s", "N": "s", "True": "s", "(0.5, 2)": "s[0]", "((1, 0.5), n)": "s[0][1]"}
    judge([sketch(f"s = {value}\n{printing(f'h * {use}')}") for value, use in values.items()])
    judge([sketch(f"s = {value}\n{printing(f'tl.arange(0, {use})')}") for value, use in values.items()])
    judge([sketch(f"s = {value}\n{printing('n + s')}") for value in ("2**31", "2**40", "-(2**31)", "2**64", "1e300")])


def test_names_for_other_values() -> None:
    """None, dtypes and tensors stay unchanged; strings and functions cannot be assigned."""
    kept = {"None": "tl.load(x, mask=s)", "DTYPE": "n.to(s)", "x.dtype.element_ty": "n.to(s)"}
    judge([sketch(f"s = {value}\n{printing(use)}") for value, use in kept.items()])
    judge([sketch(f"s = {value}") for value in ("'text'", "tl.load", "(1, 'text')", "tl", "print", "f'{N}'")])


def test_names_in_tuples() -> None:
    accepted = ("(a, b) = (n, f)", "a, (b, c) = n, (f, 3)", "(a, b), c = (n, f), h\na, b = b, a", "a, b = (3, N)")
    refused = ("a, b = n", "a, b = N", "a, (b, c) = n, f", "a, *b = 1, n", "[a, b] = 1, n", "a, b = f, n\na, b = b")
    judge([sketch(f"{text}\n{printing('b')}") for text in (*accepted, *refused)])


@pytest.mark.parametrize(("count", "value"), [(2, "1, 2, 3"), (3, "n, f"), (2, "T"), (2, "(n,)")])
def test_as_many_names_as_elements(count: int, value: str) -> None:
    """Older versions of Triton drop surplus elements."""
    line = f"{', '.join('abc'[:count])} = {value}"
    elements = 3 if value == "T" else len(value.strip("(),").split(","))
    refuses(sketch(f"tl.store(x, f)\n{line}"), str(count), str(elements), line=line)


def test_updates() -> None:
    """`x += y` is `x = x + y`, with every operator."""
    operators = ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "**", "@")
    judge([sketch(f"a = n\na {operator}= {y}\n{printing('a')}") for operator in operators for y in ("3", "f", "a")])
    accepted = ("x += n\ntl.store(x, f)", f"t = (n, 1)\nt += (f,)\n{printing('t[2]')}")
    judge([sketch(body) for body in (*accepted, "a += 1", "x[0] += 1", "x.y += 1", "N += 1\ntl.arange(0, N)")])


TARGETS = {
    "a = b = n": "simultaneous multiple assignment is not supported",
    "x[0] = f": "__setitem__ is not supported",
    "x.y = f": "Attribute assignment is not supported",
    "a, x[0] = f, f": "__setitem__ is not supported",
    "a, *b, c = T": "Starred",
    "a = 'text'": "text",
    "a = tl.load": "load",
    "a = b": "b is not defined",
}


@pytest.mark.parametrize("line", TARGETS)
def test_refused_assignments(line: str) -> None:
    refuses(sketch(f"tl.store(x, f)\n{line}\ntl.store(x, f)"), TARGETS[line], line=line)


# --- kernels that call kernels

HELPERS = (
    "COUNT = tl.constexpr(3)",
    "def add(a, b=1):\n    return a + b",
    "def scaled(a, factor=0.5, count=COUNT):\n    a *= factor\n    return a * count",
    "def block(a, SIZE: tl.constexpr):\n    return a + tl.arange(0, SIZE)",
    "def swap(a, b):\n    return b, a",
    "def nested(a):\n    return (a, (a + 1, 2)), 0.5",
    "def four():\n    return 4",
    "def nothing(p, a):\n    tl.store(p, a)",
    "def empty(p, a):\n    tl.store(p, a)\n    return",
    "def changes(n, f):\n    n = n + 1\n    f, h = n, f\n    return h",
    "def ends(a):\n    return a\n    missing",
    "def outer(a, b):\n    a, b = swap(a, add(b))\n    return add(a, four()) + b",
    "def apply(function, a):\n    return function(a)",
    "def same(a):\n    return a",
)


def helped(body: str) -> Source:
    """A kernel in one file with the kernels that it calls."""
    return sketch(body, "\n".join(HELPERS))


def calling(*expressions: str) -> Source:
    """A kernel that prints what these calls return."""
    return helped("\n".join(map(printing, expressions)))


def test_arguments_and_defaults() -> None:
    added = ("add(n)", "add(b=n, a=f)", "add(*(n, f))", "add(2, 3)", "add(N)", "add(b=2, a=n)")
    scaled = ("scaled(h)", "scaled(h, 2)", "scaled(h, count=n)", "scaled(h, count=2, factor=3)", "scaled(0.5)")
    judge([calling(text) for text in (*added, *scaled, "block(n, 4)", "block(n, SIZE=N * 2)", "block(SIZE=2, a=f)")])


def test_results() -> None:
    """A kernel returns one value, several values, or none. (Triton's versions treat a returned number differently.)"""
    parts = ("swap(n, f)[0]", "nested(n)[0][1][0]", "nested(n)[0][1][1]", "n * nested(n)[1]", "h * four()")
    calls = ("same((n, f))[1]", "ends(n)", "outer(n, f)", "outer(h, 3)", "add(add(n), add(f))")
    judge([calling(text) for text in (*parts, *calls)])
    judge([helped(f"(a, (b, c)), d = nested(n)\n{printing('a + b + c + d')}")])


def test_calls_for_their_effect() -> None:
    """The called kernel's stores take the place of the call."""
    judge([helped("nothing(x, f)\nempty(x, n)\nnothing(x, 2)"), helped(f"a = empty(p, n)\n{printing('a is None')}")])
    judge([helped(f"{printing('nothing(x, f) is None')}\n{printing('empty(x, f) is None')}")])


def test_a_called_kernel_has_names_of_its_own() -> None:
    """A called kernel neither changes nor sees its caller's names; both kernels see the globals."""
    judge([helped("\n".join(map(printing, ("changes(n, f)", "n", "f", "h"))))])
    judge([helped(f"n, f = changes(n, f), n\n{printing('n - f')}"), helped(f"a, b = 1, n\n{printing('add(b) + a')}")])
    judge([helped(f"add = n\n{printing('add + 1')}\n{printing('outer(add, n)')}")])


def test_kernels_as_arguments() -> None:
    judge([calling("apply(add, n)"), calling("tl.reduce(tl.arange(0, N), 0, add)")])
    judge([calling("apply(four, n)"), calling("apply(n, n)")])


def test_arguments_that_do_not_fit() -> None:
    """The error's location is the call."""
    calls = ("add()", "add(n, 1, 2)", "add(n, a=n)", "add(n, c=1)", "block(n)", "four(n)", "add(**T)", "add(missing)")
    judge([calling("n", text, "f") for text in calls])
    for text, word in {"add()": "a", "block(n)": "SIZE", "add(n, c=1)": "c", "add(n, 1, 2)": "many"}.items():
        refuses(calling("n", text, "f"), word, line=f"{text})")


def test_recursion() -> None:
    """With the same arguments, recursion would never end. (Real Triton reports it in several ways.)"""
    again = "\n@triton.jit\ndef {}(a):\n    return {}\n"
    for text in (again.format("f", "f(a)"), again.format("f", "g(a) + 1") + again.format("g", "f(a)")):
        answer = kernel("tl.store(x, n)\nf(n)", {"x": "*fp32", "n": "i32"}, text)
        refuses(answer, "recursion")


def test_a_call_with_other_arguments_ends() -> None:
    """A kernel may call itself with other arguments, here with another kernel."""
    helpers = "def last(f, g, a):\n    return a + 1\ndef step(f, g, a):\n    return f(g, g, a)"
    judge([sketch(printing("step(step, last, n)"), helpers)])


def test_a_parameter_is_bound_at_the_def() -> None:
    """Later errors about a parameter name this line."""
    source, bind, lines = helped(printing("add(n, 2)")), Scope.bind, dict[str, int]()

    def noted(scope: Scope, name: str, value: Any, place: Loc) -> None:
        lines[name] = place.line
        bind(scope, name, value, place)

    with mock.patch.object(Scope, "bind", noted):
        judge([source])
    line = source.text.splitlines().index("def add(a, b=1):") + 1
    if (lines["a"], lines["b"]) != (line, line):
        fail(source, f"a and b bound at line {line}", f"the lines of names: {lines}", "the `def` has its parameters")


FACTORY = """def make(function):
    @triton.jit
    def kernel_of(a):
        return function(a) + 1
    return kernel_of
@triton.jit
def double(a):
    return a * 2
twice = make(make(double))
"""
REDEFINED = """@triton.jit
def twice(a):
    return a * 2 + 1
older = twice
@triton.jit
def twice(a):
    return older(a) + 1
"""


@pytest.mark.parametrize("before", [FACTORY, REDEFINED], ids=["made by one function", "of one name"])
def test_kernels_of_the_same_name(before: str) -> None:
    """A call to a different kernel is not recursion, even if both have the same name. (Real Triton confuses them.)"""
    types = {"x": "*i32", "n": "i32"}
    judge_as(kernel("tl.store(x, twice(n))", types, before), kernel("tl.store(x, n * 2 + 1 + 1)", types))


def test_noinline() -> None:
    """A `noinline` function takes only scalars. Our front end inlines it nevertheless."""
    helper = "@triton.jit(noinline=True)\ndef apart(a, b):\n    tl.store(a, b)\n"
    tile = kernel("apart(x, tl.arange(0, 4))", {"x": "*fp32"}, helper)
    refuses(tile, "noinline", "b", line="arange")
    scalar = kernel("apart(x, 1.0)", {"x": "*fp32"}, helper)
    if isinstance(got := outcome(scalar), Exception):
        fail(scalar, "a module", got, "a number is a scalar")


INSIDE = """
def inner(a):
    return a + missing
def middle(a):
    b = a + 1
    return inner(b)
def sees_n(a):
    return a + n
def sizes(a, SIZE: tl.constexpr):
    return a + tl.arange(0, SIZE)
def combine(a, b):
    return a + missing
def reduces(a):
    return tl.reduce(tl.arange(0, 4), 0, combine) + a
def asserts(a, SIZE: tl.constexpr):
    tl.static_assert(SIZE == 4, "four")
    return sizes(a, SIZE)
"""


@pytest.mark.parametrize(
    "text", ["inner(n)", "middle(n)", "sees_n(f)", "sizes(n, 3)", "asserts(n, 3)", "asserts(n, f)", "reduces(n)"]
)
def test_errors_inside(text: str) -> None:
    """An error has its own line. For each call, the innermost first, a note gives the call's location."""
    source = sketch(f"tl.store(x, f)\n{printing(text)}", INSIDE)
    judge([source])
    (answer,) = triton.frontends([source])
    got = outcome(source)
    notes = getattr(got, "__notes__", [])
    calls = [(f":{line}:", source.text.splitlines()[line - 1].strip()) for line in reversed(answer.lines[:-1])]
    named = [(place, line) for note, (place, line) in zip(notes, calls, strict=False) if place in note and line in note]
    if len(notes) != len(calls) or named != calls or not all(note.startswith("called from ") for note in notes):
        fail(
            source, f"notes 'called from …' with these lines: {calls}", "\n".join(notes), "these calls led to the error"
        )
