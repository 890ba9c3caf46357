"""Task 5.3: operators, tuples, subscripts, and where errors are, compared with real Triton's front end."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import CompilationError, CompileTimeAssertionFailure, Loc, UnsupportedLanguageConstruct
from mini_triton.frontend.ast_visitor import Visitor
from mini_triton.frontend.function import KernelSource
from mini_triton.ir.builder import Builder

from tests.checks import described
from tests.support.m05_frontend.compilation import judge_expressions, refuses, sketch

BLOCK = "tl.arange(0, 4)"

# --- refused by values


def test_constants_without_a_type() -> None:
    judge_expressions("None", "'text'", "...", "1j", "tl.full((4), (3).value, tl.int32)")


def test_attributes_that_are_missing() -> None:
    judge_expressions("n.foo", "N.foo", "tl.math.foo", "T.foo", "tl.foo(1)", "tl.full((4), n, x.dtype.element_ty)")


def test_calls_with_wrong_arguments() -> None:
    judge_expressions("tl.arange(0, 4, 5)", "tl.load(x, foo=1)", "tl.load(n)", "math.sqrt(n)", "int(n)")


# --- operators

BINARY = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=")
UNARY = ("-", "~", "+")


@pytest.mark.parametrize("operator", BINARY)
def test_binary_operators(operator: str) -> None:
    """Each operand is a tensor, a number, or a constant."""
    operands = ("n", "m", "f", BLOCK, "3", "N")
    judge_expressions(*(f"{a} {operator} {b}" for a, b in itertools.product(operands, operands)))


def test_unary_operators() -> None:
    judge_expressions(
        *(f"{operator}{x}" for operator in UNARY for x in ("n", "f", BLOCK, "3", "N", "0.5", "x", "NONE"))
    )


def test_identity_is_decided_by_the_compiler() -> None:
    """The compiler evaluates `is` and `is not`, so the result can choose between two values."""
    pairs = [("NONE", "None"), ("n", "None"), ("N", "None"), ("x", "None"), ("None", "None"), ("n", "n"), ("n", "m")]
    judge_expressions(*(f"(n, m)[{a} {word} {b}]" for a, b in pairs for word in ("is", "is not")))
    judge_expressions("(n is None).value", "(n is not None).value")


def test_numbers() -> None:
    """Neither a number nor a constant has a dtype until it meets a tensor. The compiler computes what it can."""
    judge_expressions("2**31 - 1", "2**31", "2**32", "2**40", "2**63", "2**64", "10**30", "float('inf')", "-(-1)")
    for x in ("0.5", "3", "True", "HALF", "(N / 3)", "T[2]"):
        judge_expressions(f"h * {x}", f"{x} + n", f"m - {x}")


def test_tuples() -> None:
    pointed = ("(1, n)[1]", "(n, f)[N - 4]", "((n, 1), f)[0][1]", "(n, f, h)[1:][0]", "(n, f)[-1]", "[n, f][0]")
    added = ("((n, f) + (h,))[2]", "T[N - 4]", "(n,)[0]", "(T, n)[0][2]", "((1, 2) == (1, 2),)[0]", "PAIR[1]")
    refused = ("(n, f)[2]", "(n, f)[n]", "(n, f)", "T", "()", "T['a']", "(1, *(2, n))[2]", "BOTH[0]", "sum((1, 2))")
    judge_expressions(*pointed, *added, *refused)


def test_subscripts() -> None:
    axes = (f"{BLOCK}[:, None]", f"{BLOCK}[None]", f"{BLOCK}[:]", f"{BLOCK}[None, :, None]", "TEXT[0] == 'a'")
    refused = ("n[0]", f"{BLOCK}[1]", f"{BLOCK}[0:2]", f"{BLOCK}[n]", "N[0]", "x[n]", "tl[0]")
    judge_expressions(*axes, *refused)


# --- expressions of expressions

ATOMICS = tuple(f"tl.atomic_add(p, {i})" for i in (1, 2, 3))
ATOMS = ("n", "m", "f", "N", "SEVEN", "3", "2", BLOCK, "T[1]", "PAIR[0]", "len", *ATOMICS)
ARITHMETIC = ("+", "-", "*", "//", "%", "&", "|", "^", "<", "==", ">=")


def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions made of smaller expressions."""
    return st.one_of(
        st.builds("({} {} {})".format, smaller, st.sampled_from(ARITHMETIC), smaller),
        st.builds("-{}".format, smaller),
        st.builds("({}, {})[{}]".format, smaller, smaller, st.sampled_from(("0", "1", "-1"))),
        st.builds("tl.where({} > 1, {}, {})".format, smaller, smaller, smaller),
        st.builds("tl.minimum(y={}, x={})".format, smaller, smaller),
        st.builds("tl.load(p + {})".format, smaller),
    )


@given(st.lists(st.recursive(st.sampled_from(ATOMS), larger, max_leaves=5), min_size=1, max_size=4))
def test_expressions(expressions: list[str]) -> None:
    """Operands are visited from left to right, in the order of their atomics. An error has its operand's line."""
    judge_expressions(*expressions)


def test_the_left_operand_comes_first() -> None:
    first, second, _ = ATOMICS
    judge_expressions(*(f"{first} {operator} {second}" for operator in BINARY), f"({first}, n)[(1, {second})[0]]")


# --- refusals

UNSUPPORTED = {
    "lambda: 1": "Lambda",
    "{1: 2}": "Dict",
    "n @ n": "MatMult",
    "n in T": "In",
    "del n": "Delete",
    "try:\n    n\nfinally:\n    n": "Try",
    "def inner():\n    pass": "FunctionDef",
    "raise n": "Raise",
}


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_python_that_kernels_cannot_use(text: str) -> None:
    source = sketch(f"tl.store(x, 1.0)\n{text}\ntl.store(x, 2.0)")
    refuses(source, UNSUPPORTED[text], line=text.splitlines()[0], error=UnsupportedLanguageConstruct)


REFUSED = {
    "1 < n < 4": ("simultaneous multiple comparison is not supported",),
    "n + 2**64": ("18446744073709551616",),
    "tl.arange(0, n)": ("constexpr",),
    "x * 2": ("pointer<fp32>", "int32"),
    "tl.arange(0, 3)": ("power of 2",),
    "n.foo": ("foo",),
    "N / 0": ("zero",),
    "(n, f)[2]": ("range",),
    "tl.load(x, other=0.0)": ("mask",),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_what_is_at_fault(text: str) -> None:
    """The error's line is that of the expression, not of the statement."""
    body = f"tl.store(x, 1.0)\ntl.device_print('shown',\n    n,\n    {text},\n    f)"
    refuses(sketch(body), *REFUSED[text], line=text)


def test_an_error_of_the_kernel_keeps_its_class() -> None:
    """`tl.static_assert` does not know its location; the front end adds that of the call."""
    source = sketch("tl.static_assert(N == 4)\ntl.static_assert(N == 5, 'N is five')")
    refuses(source, "N is five", line="N == 5", error=CompileTimeAssertionFailure)


def test_an_error_with_a_location_stays_there() -> None:
    function = KernelSource(test_subscripts)
    visitor, inner = Visitor(function, Builder()), CompilationError("no", Loc("other.py", 3, 5))
    call = described("locate(an error with a location, another node)", visitor.locate, inner, function.tree)
    if (got := call.succeeds()) is not inner:
        call.fail("the very same error", got, "it may come from a kernel that this one calls")


def test_the_innermost_place() -> None:
    """An error points at the expression that raised it, not at an expression around it."""
    for text in ("missing", "n.foo", "x * 2", "tl.foo()", "tl.arange(0, 3)", "lambda: 1"):
        body = f"tl.store(\n    x,\n    1 + tl.exp(\n        f * (\n            {text}\n        )))"
        refuses(sketch(body), line=text, error=CompilationError)
