"""Task 5.5: branches, loops and names that the compiler decides about, compared with real Triton's front end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import judge, printing, programs, refuses, sketch


def compiled(body: str, last: str = "", before: str = "") -> Source:
    """A kernel with this body that prints `last` at the end."""
    return sketch(f"{body}\n{printing(last)}" if last else body, before)


# --- if


def test_one_branch_is_visited() -> None:
    """The other branch may contain errors. Assignments in the visited branch remain in effect."""
    bodies = {
        "if N == 4:\n    a = n\nelse:\n    a = missing(f)": "a",
        "if N == 1:\n    a = 1\nelif N == 4:\n    a = 2.5\nelse:\n    a = missing": "a * h",
        "a = n\nif N == 5:\n    a = f": "a",
        "a = n\nif N == 4:\n    a = f": "a",
        "if N == 4:\n    b = n\nelse:\n    a = n": "a",
        "if x.dtype.element_ty == tl.float16:\n    a = h\nelse:\n    a = f": "a",
        "if N == 4:\n    tl.store(x, f)\ntl.store(x, h)": "n",
    }
    judge([compiled(body, last) for body, last in bodies.items()])


ACCEPTED = ("N", "ZERO", "YES", "NONE", "True", "None", "0", "N > 3", "NONE is None", "N & 2", "DTYPE == tl.float16")
REFUSED = ("'text'", "N / 2", "(n, f)", "()", "tl", "tl.load", "missing", "N > 'a'")
NO_CONDITION = {"TEXT": "str", "0.5": "float", "T": "tuple", "DTYPE": "dtype"}


def test_conditions() -> None:
    """Conditions are bools, integers or None; another task compiles conditions that are tensors."""
    texts = (*ACCEPTED, *REFUSED, *NO_CONDITION)
    judge([compiled(f"if {text}:\n    tl.store(p, 1)\nelse:\n    tl.store(p, 2)") for text in texts])
    for text, kind in NO_CONDITION.items():
        source = compiled(f"tl.store(x, f)\nif {text}:\n    tl.store(x, f)")
        refuses(source, kind, line=f"if {text}", error=UnsupportedLanguageConstruct)


HELPERS = """
def clamped(a, LIMIT: tl.constexpr):
    if LIMIT == 0:
        return a
    return tl.minimum(a, LIMIT)
def chosen(a, KIND: tl.constexpr):
    if KIND == "half":
        a = a.to(tl.float16)
    elif KIND == "many":
        a = a + tl.arange(0, 4)
    else:
        return a + 1.5
    return a * 2
def power(a, N: tl.constexpr):
    result = a
    for i in tl.static_range(N - 1):
        result *= a
    return result
def halved(a, N: tl.constexpr):
    if N > 1:
        a = halved(a + N, N // 2)
    return a
"""


def test_returns_and_the_rest() -> None:
    """Nothing is visited after a `return`. If the branch has no `return`, the statements below the `if` are visited."""
    calls = ("clamped(n, 0)", "clamped(n, 7)", "chosen(f, 'half')", "chosen(f, 'many')", "chosen(f, 'none')")
    loops_and_recursion = ("power(power(n, 2), 2)", "halved(n, 8)", "halved(f, 1)")
    judge([compiled("pass", text, HELPERS) for text in (*calls, *loops_and_recursion)])
    judge([compiled(f"if N == {n}:\n    tl.store(x, f)\n    return\ntl.store(x, h)") for n in (4, 5)])
    judge([compiled("if N == 5:\n    pass\nelse:\n    if YES:\n        return\n    tl.store(x, f)\ntl.store(x, h)")])


# --- static_range


def test_unrolled_loops() -> None:
    """The body is visited once for each value. The target is a constant, and keeps its last value after the loop."""
    bodies = {
        "for i in tl.static_range(3):\n    n += i": "n",
        "for i in tl.static_range(N, 0, -1):\n    tl.store(x + i, f)": "i",
        "for i in tl.static_range(1, N, 2):\n    tl.store(x + i, f)": "i",
        "for i in tl.static_range(N):\n    h *= i": "h",
        "for i in tl.static_range(1, 3):\n    a = tl.sum(tl.arange(0, 2 * i), 0)": "a",
        "for i in tl.static_range(2):\n    for j in tl.static_range(i + 1):\n        n += i * 10 + j": "n",
        "for i in tl.static_range(2):\n    i += 5\n    n += i": "n + i",
        "for i in tl.static_range(arg1=1, arg2=3):\n    b = n + i": "b",
        "for i in tl.static_range(3):\n    pass": "tl.arange(0, i * 2)",
        "i = n\nfor i in tl.static_range(3):\n    pass": "tl.arange(0, i * 2)",
        "a = n\nfor i in tl.static_range(2):\n    a = (a, i)": "a[0][1]",
        "a = 1\nfor i in tl.static_range(3):\n    a = a * 0.5 + n": "a",
    }
    judge([compiled(body, last) for body, last in bodies.items()])


def test_a_loop_without_iterations() -> None:
    """The body is not visited, and assigns no names."""
    loops = ("tl.static_range(3, 1)", "tl.static_range(1, 3, -1)", "tl.static_range(ZERO)")
    bodies = [f"for i in {loop}:\n    tl.store(x, f)\n    b = n" for loop in loops]
    judge([compiled(body, last) for body in bodies for last in ("n", "b", "i")])


REFUSED_LOOPS = {
    "for i in (1, 2):": ("range", "static_range"),
    "for i in n:": ("range", "static_range"),
    "for i in TEXT:": ("range", "static_range"),
    "for i in tl.static_range(n):": ("constexpr",),
    "for i in tl.static_range(N, n):": ("constexpr",),
    "for i in tl.static_range(0, N, ZERO):": ("zero",),
    "for i in missing:": ("missing",),
    "for i, j in tl.static_range(N):": (),
    "for x.y in tl.static_range(N):": (),
}


@pytest.mark.parametrize("head", REFUSED_LOOPS)
def test_refused_loops(head: str) -> None:
    error = UnsupportedLanguageConstruct if REFUSED_LOOPS[head][:1] == ("range",) else CompilationError
    source = compiled(f"tl.store(x, f)\n{head}\n    tl.store(x, h)")
    refuses(source, *REFUSED_LOOPS[head], line=head, error=error)
    judge([source])


def test_errors_point_at_the_iterator() -> None:
    for iterator, word in (("n", "static_range"), ("tl.static_range(0, N, ZERO)", "zero")):
        refuses(compiled(f"for i in (\n    {iterator}\n):\n    tl.store(x, h)"), word, line=f"    {iterator}")


def test_no_way_out_of_a_loop() -> None:
    """(Triton allows a `return` in an unrolled loop, because no loop remains.)"""
    inner = "for j in tl.static_range(1):\n        {}"
    returns = (
        "return",
        "if N == 4:\n        return",
        inner.format("return n"),
        f"{inner.format('n += j')}\n    return",
    )
    words = {"break": "Break", "continue": "Continue"}
    words |= dict.fromkeys(returns, "Cannot have `return` statements inside `while` or `for` statements")
    for text, word in words.items():
        source = compiled(f"for i in tl.static_range(2):\n    n += i\n    {text}")
        line = text if text in ("break", "continue") else "return"
        refuses(source, word, line=line, error=UnsupportedLanguageConstruct)


def test_no_else_after_a_loop() -> None:
    source = compiled("tl.store(x, f)\nfor i in tl.static_range(2):\n    n += 1\nelse:\n    tl.store(x, h)")
    refuses(source, "else", line="for i")


def test_a_return_after_a_loop() -> None:
    judge([compiled("for i in tl.static_range(0):\n    for j in tl.static_range(2):\n        pass\nreturn\nmissing")])


# --- constexpr


def test_names_of_constants() -> None:
    """Names of constants stay weak, and the compiler knows their values."""
    bodies = {
        "a: tl.constexpr = 0.5": "h * a",
        "a: tl.constexpr = N * 2\nb: tl.constexpr = a // 4": "tl.arange(0, b)",
        "a: tl.constexpr = (1, N)": "tl.arange(0, a[1])",
        "a: tl.constexpr = None": "a is None",
        "a: tl.constexpr = tl.float32": "n.to(a.value)",
        "a: tl.constexpr = power": "a(n, 2)",
        "power: tl.constexpr = 4": "tl.arange(0, power)",
        "if N == 4:\n    a: tl.constexpr = 3\nelse:\n    a: tl.constexpr = 5": "tl.arange(0, a + 1)",
        "a: tl.constexpr = 4\na = 5": "a",
        "a: tl.constexpr = 4\na += 5": "tl.arange(0, a)",
    }
    judge([compiled(body, last, HELPERS) for body, last in bodies.items()])


def test_other_annotations_mean_nothing() -> None:
    bodies = {"a: tl.int64 = 3": "n + a", "a: int = 4": "tl.arange(0, a)", "x.y: int = 3": "n", "a: tl.int32": "n"}
    judge([compiled(body, last) for body, last in bodies.items()])
    judge([compiled("a: tl.constexpr", last) for last in ("n", "a")])


def test_annotations_are_evaluated() -> None:
    """Their values decide, not their text."""
    judge([compiled(f"tl.store(x, f)\na: {text} = 4", "tl.arange(0, a)") for text in ("missing", "'tl.constexpr'")])
    judge([compiled("tl.store(x, f)\na: missing", "n")])
    judge([compiled("a: C = 4", "tl.arange(0, a)", "from triton.language import constexpr as C")])


@pytest.mark.parametrize("before", ["a = 3", "a: tl.constexpr = 3", "a = n"])
def test_constants_are_new(before: str) -> None:
    source = compiled(f"{before}\na: tl.constexpr = 4")
    refuses(source, "a is already defined. constexpr cannot be reassigned.", line="a: tl.constexpr = 4")
    judge([source])
    refuses(compiled("N: tl.constexpr = 4"), "N is already defined", line="N: tl.constexpr = 4")


def test_a_constant_in_a_loop_is_not_new() -> None:
    body = "for i in tl.static_range({}):\n    a: tl.constexpr = i + 1"
    judge([compiled(body.format(count), "n") for count in (0, 1, 2)])
    refuses(compiled(body.format(2)), "a is already defined", line="a: tl")


def test_a_constant_is_a_name() -> None:
    for target in ("x.y", "x[0]"):
        judge([compiled(f"tl.store(x, f)\n{target}: tl.constexpr = 3")])


def test_a_tensor_stays_one() -> None:
    """Real Triton accepts the annotation for a tensor, but refuses the tensor where a constant is needed."""
    judge([compiled("a: tl.constexpr = n * 2", "p + a"), compiled("a: tl.constexpr = tl.arange(0, 4)", "a * n")])
    judge([compiled("a: tl.constexpr = n", "tl.arange(0, a)")])


def test_static_assert() -> None:
    """A `static_assert` in a branch that is not visited cannot fail."""
    judge([compiled("if N == 4:\n    tl.static_assert(YES)\nelse:\n    tl.static_assert(N == 4)")])
    body = "for i in tl.static_range(5):\n    tl.static_assert(i < 4)"
    refuses(compiled(body), line="tl.static_assert", error=CompileTimeAssertionFailure)
    judge([compiled(body)])


# --- whole programs

SIMPLE = (
    *("{0} = {1} + {n}", "{0} += {1}", "{0} = {n}", "{0} = i", "{0} = N * {n}", "tl.store(p + {n}, {0})", "pass"),
    *("{1}: tl.constexpr = {n}", "C: tl.constexpr = N + {n}", "{0} = C + {n}", "tl.store(p + i, {1})", "{0} += i * j"),
)
HEADS = (
    *("if N > {n}:", "if ZERO == {n}:", "if NONE is None:", "if YES:", "if i == {n}:", "if {n}:", "if NONE:"),
    *("for i in tl.static_range({n}):", "for i in tl.static_range({n}, N, 2):", "for i in tl.static_range(i):"),
    *("for j in tl.static_range(N, {n}, -1):", "elif N == {n}:", "else:"),
)


@given(programs(SIMPLE, HEADS, most=8), st.sampled_from(("a", "b", "c", "tl.arange(0, b)", "i")))
def test_programs(text: str, last: str) -> None:
    """Nested branches and loops on constants, which leave no control flow in the IR."""
    judge([compiled(f"a, b = n, 1\n{text}", last)])
