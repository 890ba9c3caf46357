"""Task 5.9: errors say what is wrong, and point at the line of the kernel.

In the kernels here « is where the error should point. It is taken out before they are compiled.
"""

import dataclasses
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

from tests.checks import NO_ANSWER, one_in
from tests.oracles import triton
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import fail, kernel
from tests.support.sources import compiled

MARK = "«"
FILE = "/home/ada/kernels.py"
TYPES = {"x": "*fp32", "c": "*kfp32", "n": "i32", "u": "u32", "i8": "i8", "f": "fp32", "h": "fp16", "N": "=4"}
BEFORE = """
GG = 3
def plain(a):
    return a
@triton.jit
def both(a, b):
    return a + b
"""
BLOCK = "v = tl.arange(0, 64)\n"
ORDINARY = "y = «tl.arange(0, 64) + tl.arange(0, 32)"


def refused(body: str, before: str = "") -> tuple[CompilationError, Source]:
    """The error for a kernel with this body: its line, column and caret are those of the mark."""
    __tracebackhide__ = True
    return at_the_mark(kernel(body, TYPES, before))


def at_the_mark(marked: Source) -> tuple[CompilationError, Source]:
    """The error for a kernel whose text contains the mark, and the kernel."""
    __tracebackhide__ = True
    source = dataclasses.replace(marked, text=marked.text.replace(MARK, ""))
    error = raised(source)
    lines = marked.text.splitlines()
    ((line, column),) = [(i, text.index(MARK)) for i, text in enumerate(lines, 1) if MARK in text]
    place = f"{FILE}:{line}:{column}"
    if str(error.loc) != place:
        fail(source, f"an error at {place}", error, "that is the wrong place in this kernel")
    expected = f"{place}: {error.message}\n{lines[line - 1].replace(MARK, '')}\n{' ' * column}^"
    if str(error) != expected:
        fail(source, expected, error, "an error consists of its location, its message, the line, and a caret below")
    return error, source


def raised(source: Source) -> CompilationError:
    """The error with which our front end refuses a kernel of the file."""
    __tracebackhide__ = True
    got: object = None
    try:
        got = compiled(source, FILE)
    except NO_ANSWER:
        raise
    except CompilationError as error:
        return error
    except Exception as error:
        fail(source, "CompilationError", error, "an error in a kernel is a `CompilationError`")
    fail(source, "CompilationError", str(got), "this kernel is wrong")


def says(body: str, *words: str, error: type[CompilationError] = CompilationError, before: str = "") -> None:
    """Our front end refuses the kernel with this class of error and these words; real Triton also refuses it."""
    __tracebackhide__ = True
    got, source = refused(body, before)
    if not isinstance(got, error):
        fail(source, error.__name__, got, "this error has a class of its own")
    for word in words:
        if word not in got.message:
            fail(source, f"a message with {word!r} in it", got, "the message names the cause, in Triton's words")
    only_the_kernel(got, source)
    assert not triton.frontends([source])[0], f"the test is wrong, real Triton accepts this:\n{source.text}"


def only_the_kernel(error: CompilationError, source: Source) -> None:
    """Python's traceback shows one frame of the compiler: `ast_to_ttir`, which raised the error."""
    __tracebackhide__ = True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    inside = [frame for frame in frames if frame.f_globals["__name__"].partition(".")[0] == "mini_triton"]
    names = [frame.f_code.co_name for frame in inside]
    if names != ["ast_to_ttir"]:
        fail(
            source, "a traceback with `ast_to_ttir` as its only frame of mini_triton", error, f"its frames are {names}"
        )
    if (error.__cause__ or error.__context__) and (error.__cause__ or not error.__suppress_context__):
        text = "".join(traceback.format_exception(error))
        fail(source, "an error that Python prints alone", error, f"Python also prints an earlier error:\n{text}")


# --- the form of an error


def test_an_error() -> None:
    says(ORDINARY, "incompatible dimensions at index 0: 64 and 32")


@given(
    lines=st.integers(0, 30),
    depth=st.integers(0, 4),
    decorators=st.integers(0, 2),
    inner=st.booleans(),
    wrong=st.sampled_from(("y", "x + foo", "tl.arange(0, n)")),
)
def test_wherever_the_kernel_is(lines: int, depth: int, decorators: int, inner: bool, wrong: str) -> None:
    """Lines and columns are those of the file: below other lines, in a function, in blocks, under decorators."""
    body = "".join(f"{'    ' * level}if N > {level - 9}:\n" for level in range(depth))
    offset = wrong.index("foo") if "foo" in wrong else 0
    body += f"{'    ' * depth}z = {wrong[:offset]}«{wrong[offset:]}"
    source = kernel(body, TYPES, "\n" * lines)
    text = source.text.replace("@triton.jit\n", "@same\n" * decorators + "@triton.jit\n")
    text = text.replace("import triton\n", "import triton\ndef same(kernel): return kernel\n")
    if inner:
        head, _, rest = text.partition("@")
        nested = "\n".join(f"    {line}" if line else "" for line in f"@{rest}".splitlines())
        text = f"{head}def make():\n{nested}\n    return kernel\nkernel = make()\n"
    at_the_mark(dataclasses.replace(source, text=text))


# --- common mistakes

MISTAKES = {
    ORDINARY: "incompatible dimensions at index 0: 64 and 32",
    "y = «tl.arange(0, 48)": "arange's range must be a power of 2",
    "y = «tl.arange(8)": "missing 1 required positional argument: 'end'",
    f"{BLOCK}y = «tl.load(v)": "Unsupported ptr type",
    "«tl.store(c, 1.0)": "Cannot store to a constant pointer",
    "y = «x + 1.5": "invalid operands of type pointer<fp32> and",
    "y = «tl.exp(h)": "Expected dtype ['fp32', 'fp64'] but got fp16",
    "y = «tl.dot(tl.zeros([16, 16], tl.float16), tl.zeros([32, 16], tl.float16))": "equal reduction dimensions",
    "y = «u + (-1)": "between an unsigned tensor and a negative scalar",
    "y = n + «foo": "foo is not defined",
    "y = «GG + 1": "Cannot access global variable GG",
    "«x[0] = 1.0": "__setitem__ is not supported",
    "«n.x = 1": "Attribute assignment is not supported",
    "B: tl.constexpr = 3\n«B: tl.constexpr = 4": "B is already defined. constexpr cannot be reassigned.",
    "y = «both(n)": "missing a required argument: 'b'",
    "y = «tl.nothing(n)": "nothing",
    "y = «tl.load(x, masc=n)": "unexpected keyword argument 'masc'",
    "if n > 3:\n    y = n\nn += «y": "y is not defined here",
    "for i in range(n):\n    y = n\nn += «y": "y is not defined here",
    "for i in «range(f):\n    pass": "For loop bounds and step must all be integer scalars",
    "y = «n if n > 3 else 2.0": "Ternary expression with dynamic condition has inconsistent types int32[] and fp32[]",
}
UNSUPPORTED = {
    "if «tl.arange(0, 4) > n:\n    pass": "Boolean value of Tensor with more than one value is ambiguous",
    "for i in range(n):\n    «break": "unsupported AST node type: Break",
    "g = «lambda a: a": "unsupported AST node type: Lambda",
    "«try:\n    n = 1\nfinally:\n    pass": "unsupported AST node type: Try",
    "for i in range(n):\n    «return": "Cannot have `return` statements inside `while` or `for` statements",
}


@pytest.mark.parametrize("body", MISTAKES | UNSUPPORTED, ids=lambda body: body.replace(MARK, ""))
def test_common_mistakes(body: str) -> None:
    """The error and its location, without any of the compiler's internals."""
    if body in UNSUPPORTED:
        says(body, UNSUPPORTED[body], error=UnsupportedLanguageConstruct, before=BEFORE)
    else:
        says(body, MISTAKES[body], before=BEFORE)


def test_an_assertion() -> None:
    says("«tl.static_assert(N == 5, 'N is five')", "N is five", error=CompileTimeAssertionFailure)
    says("«tl.static_assert(n == 5)", "could not be determined at compile-time")


def test_what_versions_of_triton_disagree_about() -> None:
    """Chained comparisons are in Triton since 3.9; Triton refuses a returned value only at the launch."""
    error, source = refused("y = «1 < n < 3")
    only_the_kernel(error, source)
    assert "simultaneous multiple comparison is not supported" in error.message, error
    error = raised(kernel("return n", TYPES))
    only_the_kernel(error, kernel("return n", TYPES))
    assert "returns nothing" in error.message


# --- types that change


VALUES = {"int32[]": "n + 1", "fp32[]": "f * 2", "fp16[]": "h * h", "fp32[4]": "tl.zeros([4], tl.float32)"}
VALUES |= {
    "int32[4]": "tl.arange(0, 4)",
    "pointer<fp32>[]": "x + 1",
    "(int32[], fp32[])": "(n, 1.0)",
    "int1[]": "n > 3",
    "uint32[]": "u + 1",
}

SOME = one_in(2)
types = st.lists(st.sampled_from(list(VALUES)), min_size=2, max_size=2, unique=True)
names = st.sampled_from(("acc", "y", "total"))
gaps = st.integers(0, 3)


@given(
    types=types,
    name=names,
    gap=gaps,
    loop=st.sampled_from(("for i in range(n)", "while n > 3", "for i in range(3, n)")),
)
def test_a_loop_that_changes_a_type(types: list[str], name: str, gap: int, loop: str) -> None:
    """The error points at the new value, and gives the line of the old one."""
    first, second = types
    before = "pass\n" * gap
    body = f"{before}{name} = {VALUES[first]}\n{loop}:\n    n += 1\n    «{name} = {VALUES[second]}"
    words = f"variable {name} has initial type {first} (line {6 + gap}) but is re-assigned to {second} in loop!"
    says(body, f"Loop-carried {words} Please make sure that the type stays consistent.")


def test_a_type_that_an_operator_changes() -> None:
    """`total += i * 0.5`: the most common of them."""
    words = "Loop-carried variable total has initial type int32[] (line 6) but is re-assigned to fp32[] in loop!"
    says("total = 0\nfor i in range(n):\n    «total += i * 0.5", words)
    says("total = 0\nfor i in range(n):\n    for j in range(i):\n        «total = total + f\n", words)
    words = words.replace("line 6", "line 5").replace("total", "n")
    says("for i in range(3):\n    «n = n + f", words)


@SOME
@given(types=types, name=names, gap=gaps, form=st.sampled_from(("both", "then", "else")))
def test_branches_with_two_types(types: list[str], name: str, gap: int, form: str) -> None:
    """It points at the second value, and gives both lines: for an unchanged name, the line before the `if`."""
    first, second = types
    change, rest = f"    «{name} = {VALUES[second]}", "pass\n" * gap
    head = f"{name} = {VALUES[first]}\n{rest}if n > 3:\n"
    old, place = f"({first}, line 6)", f"({second}, line {8 + gap + 2 * (form == 'else')})"
    if form == "both":
        head = f"if n > 3:\n    {name} = {VALUES[first]}\n{rest.replace('pass', '    pass')}else:\n"
        old, place = f"({first}, line 7)", f"({second}, line {9 + gap})"
    elif form == "else":
        head += "    pass\nelse:\n"
    then, otherwise = (place, old) if form == "then" else (old, place)
    says(head + change, f"Mismatched type for {name} between then block {then} and else block {otherwise}")


def test_a_loop_in_a_branch() -> None:
    words = "Mismatched type for y between then block (int32[], line 10) and else block (fp32[], line 6)"
    says("y = 0.5\nif n > 3:\n    for i in range(n):\n        n += i\n    «y = n", words)


# --- errors in a function that another one calls


def note(source: Source, call: str, offset: int = 0) -> str:
    """The note about a call at this place in the kernel's file."""
    ((line, text),) = [(i, line) for i, line in enumerate(source.text.splitlines(), 1) if call in line]
    column = text.index(call) + offset
    return f"called from {FILE}:{line}:{column}\n{text}\n{' ' * column}^"


def test_called_from() -> None:
    """The error is in the function. Notes list its callers, from the inside out."""
    inner = "@triton.jit\ndef inner(a):\n    return «a + tl.zeros([8], tl.float32)\n"
    middle = "@triton.jit\ndef middle(a):\n    for i in range(3):\n        a += 1\n    return 2 * inner(a)\n"
    body = "y = n\nif n > 3:\n    y = middle(tl.arange(0, 4))"
    error, source = refused(body, inner + middle)
    expected = [note(source, "2 * inner(a)", 4), note(source, "middle(tl.arange")]
    notes = getattr(error, "__notes__", [])
    if notes != expected:
        fail(source, f"these notes: {expected}", error, f"its notes (`add_note`) are {notes}")
    only_the_kernel(error, source)
    assert "called from" not in error.message, "the message describes the error; notes list the calls that led to it"


def test_a_helper_given_to_the_language() -> None:
    """The combine function of a reduction is called from the reduction."""
    error, source = refused(
        "y = tl.reduce(tl.arange(0, 4), 0, both)", "@triton.jit\ndef both(a, b):\n    return a + «foo\n"
    )
    only_the_kernel(error, source)
    assert getattr(error, "__notes__", []) == [note(source, "tl.reduce(")], "one note, which points at the reduction"
