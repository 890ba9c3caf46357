"""Our front end compared with real Triton's: both compile the same text.

    judge([kernel("tl.store(x, n + 1)", {"x": "*i32", "n": "i32"})])

Both must accept it or both refuse it. What is accepted must be the same after real Triton's canonicalizer, what is
refused must be refused at the same line.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn
from unittest import mock

from hypothesis import strategies as st
from mini_triton.errors import CompilationError
from mini_triton.ir.printer import print_module

from tests.checks import NO_ANSWER
from tests.oracles import records, triton
from tests.oracles.triton import Code, Made, Source
from tests.support.m05_frontend.difference import difference
from tests.support.m05_frontend.early_returns import structured
from tests.support.sources import compiled

DEBUGGING = "MINI_TRITON_FRONT_END_DEBUGGING"
"""Errors keep their traceback through the compiler, so that a failure points into the code under test."""

ARGUMENTS = {
    "x": "*fp32",
    "p": "*i32",
    "n": "i32",
    "m": "i64",
    "f": "fp32",
    "h": "fp16",
    "N": "=4",
    "ZERO": "=0",
    "HALF": "=0.5",
    "YES": "=True",
    "NONE": "=None",
    "TEXT": "='abc'",
    "T": "=(1, 4, 2.5)",
    "DTYPE": "=tl.float16",
}
"""Parameters of small kernels. `=` marks a constant."""

GLOBALS = {
    "arange": "from triton.language import arange",
    "mathematics": "import triton.language.math as mathematics",
    "math": "import math",
    "SEVEN": "SEVEN = tl.constexpr(7)",
    "PAIR": "PAIR = tl.constexpr((3, 5))",
    "SHORT": "SHORT = tl.constexpr(tl.int16)",
    "FLOAT": "FLOAT = tl.float16",
    "len": "len = tl.constexpr(9)",
    "NUMBER": "NUMBER = 3",
    "WORD": "WORD = 'abc'",
    "BOTH": "BOTH = (1, 2)",
    "ANNOTATED": "ANNOTATED: tl.constexpr = 3",
    "plain": "def plain(a):\n    return a",
    "Plain": "class Plain:\n    value = 3",
}
"""The beginning of the kernels' file. Kernels can see some of its names."""

Outcome = str | Exception
"""The text of the module that our front end makes of a kernel, or why it refuses."""


def kernel(body: str, arguments: Mapping[str, str], before: str = "") -> Source:
    """A kernel with this body. `=` marks a constant: `{"x": "*fp32", "n": "i32", "N": "=64"}`.

    `before` are lines of the file before the kernel: globals, other kernels.
    """
    constants = {name: Code(value[1:]) for name, value in arguments.items() if value.startswith("=")}
    parameters = [f"{name}: tl.constexpr" if name in constants else name for name in arguments]
    lines = ["import triton", "import triton.language as tl", before, "@triton.jit"]
    lines += [f"def kernel({', '.join(parameters)}):", *(f"    {line}" for line in body.splitlines())]
    signature = {name: "constexpr" if name in constants else value for name, value in arguments.items()}
    return Source("\n".join(lines) + "\n", "kernel", signature, constants)


def sketch(body: str, before: str = "") -> Source:
    """A kernel with this body, and with those of `ARGUMENTS` and `GLOBALS` that it uses. Lines like "def f(a):" in
    `before` are other kernels."""
    lines = [*used(GLOBALS, body).values(), before.replace("def ", "@triton.jit\ndef ")]
    return kernel(body, used(ARGUMENTS, body), "\n".join(filter(None, lines)))


def printing(text: str) -> str:
    """The statement that prints a value."""
    return f'tl.device_print("shown", {text})'


def programs(simple: Sequence[str], heads: Sequence[str], most: int) -> st.SearchStrategy[str]:
    """Consecutive lines, made from templates: `{0}`, `{1}`, `{2}` are names, `{n}` is a number below 5.

    What follows a head, as "if {0}:", is in its block or left of it; "else:" is left out where there is no `if`.
    """
    names = st.lists(st.sampled_from("abc"), min_size=3, max_size=3)
    line = st.tuples(st.integers(0, 3), st.sampled_from((*simple, *heads)), names, st.integers(0, 4))

    def program(lines: list[tuple[int, str, list[str], int]]) -> str:
        written: list[str] = []
        deepest, branches = 0, set[int]()
        for depth, template, names, number in lines:
            if depth < deepest and written[-1].endswith(":"):
                written.append("    " * deepest + "pass")
            depth = min(depth, deepest)
            if template.startswith("el") and depth not in branches:
                continue
            branches = {other for other in branches if other < depth}
            if template.startswith(("if", "elif")) and template in heads:
                branches.add(depth)
            written += ["    " * depth + text for text in template.format(*names, n=number).splitlines()]
            deepest = depth + (template in heads)
        return "\n".join([*written, "    " * deepest + "pass"])

    return st.lists(line, min_size=1, max_size=most).map(program)


def judge_expressions(*expressions: str) -> None:
    """Compare expressions, each in a statement that prints it: both compilers build the same IR, or both refuse."""
    __tracebackhide__ = True
    judge_statements([printing(text) for text in expressions], ARGUMENTS, GLOBALS)


def outcome(source: Source) -> Outcome:
    """A kernel, compiled by our front end."""
    try:
        with mock.patch.dict(os.environ, {DEBUGGING: "1"}):
            return print_module(compiled(source))
    except NO_ANSWER:
        raise
    except Exception as error:
        return error


def judge_statements(statements: Sequence[str], arguments: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Compare independent statements in the same way; `names` maps names to the lines that define them.

    They are in one kernel, but those that our front end refuses, which have one each.
    """
    __tracebackhide__ = True
    alone = {statement: _around([statement], arguments, names) for statement in statements}
    accepted = [statement for statement in statements if isinstance(outcome(alone[statement]), str)]
    whole = _around(accepted, arguments, names)
    try:
        judge([whole] * bool(accepted))
    except AssertionError:
        judge([alone[statement] for statement in accepted])  # one kernel a statement shows which one is wrong
        outcome(whole)  # no statement alone is wrong, so the grader looks at the functions that compiled all of them
        raise
    judge([alone[statement] for statement in statements if statement not in accepted])


def _around(statements: Sequence[str], arguments: Mapping[str, str], names: Mapping[str, str]) -> Source:
    """The kernel with these statements, and with the definitions that they use."""
    body = "\n".join(statements)
    return kernel(body, used(arguments, body), "\n".join(used(names, body).values()))


def used(names: Mapping[str, str], text: str) -> dict[str, str]:
    """The names that occur in a text; a failure omits all other names."""
    words = set(re.findall(r"\w+", text))
    return {name: value for name, value in names.items() if name in words}


def judge(sources: Sequence[Source]) -> None:
    """Fail if our front end compiles one of these kernels differently from real Triton's."""
    __tracebackhide__ = True
    outcomes = [outcome(source) for source in sources]
    for source, ours, theirs in zip(sources, outcomes, triton.frontends(sources), strict=True):
        _compare(source, ours, theirs)


def judge_as(source: Source, plain: Source) -> None:
    """Fail if our front end does not compile a kernel to the IR that real Triton builds from an equivalent kernel.

    For kernels that real Triton confuses.
    """
    __tracebackhide__ = True
    _compare(source, outcome(source), *triton.frontends([plain]))


def judge_valid(source: Source) -> None:
    """Require that both front ends build the same IR from a valid kernel.

    With another version of Triton than the pinned one, some of whose operations are others, it has to accept ours.
    """
    __tracebackhide__ = True
    ours = outcome(source)
    if isinstance(ours, Exception):
        fail(source, "a module", ours, "real Triton accepts this")
    if triton.version() == records.LEADING:
        _compare(source, ours, *triton.frontends([source]))
    elif not (accepted := triton.accepts(ours)):
        fail(source, "IR that real Triton accepts", ours, accepted.diagnostic)


def refuses(source: Source, *words: str, line: str = "", error: type[CompilationError] = CompilationError) -> None:
    """Require that our front end refuses the kernel with these words in the message, at the line with this text."""
    __tracebackhide__ = True
    got = outcome(source)
    expected = f"{error.__name__} whose message contains {' and '.join(map(repr, words))}"
    if not isinstance(got, error) or not all(word in got.message for word in words):
        fail(source, expected, got, f"the language does not allow {f'this line: {line.strip()}' if line else 'this'}")
    lines = [number for number, text in enumerate(source.text.splitlines(), 1) if line in text]
    if line and (not got.loc or got.loc.line not in lines):
        fail(source, f"line {lines[0]}: {line}", got, "this line is wrong")


def _compare(source: Source, ours: Outcome, theirs: Made) -> None:
    __tracebackhide__ = True
    if not theirs:
        said = f"{theirs.error}: {theirs.diagnostic or '(no message)'}"
        if theirs.line:
            said += f", at the line {source.text.splitlines()[theirs.line - 1].strip()}"
        if not isinstance(ours, CompilationError):
            fail(source, "CompilationError", ours, f"real Triton refuses: {said}")
        if theirs.line and (not ours.loc or ours.loc.line != theirs.line):
            fail(source, f"an error at line {theirs.line}", ours, f"real Triton reports it there: {said}")
        return
    if isinstance(ours, Exception):
        fail(source, "a module", ours, "real Triton accepts this")
    try:
        canonical = triton.canonical(ours)
    except AssertionError as error:
        fail(source, "IR that real Triton accepts", ours, str(error))
    if found := difference(canonical, without_jumps(source, theirs)):
        raise _failure(source, f"{found}\n  because   real Triton builds this IR from the kernel")


def without_jumps(source: Source, made: Made) -> str:
    """A kernel compiled by real Triton, after its canonicalizer. Its jumps for early returns become `scf.if`s."""
    if " cf." not in made.canonical:
        return made.canonical
    (stages,) = triton.frontends([source], steps=True)
    return triton.canonical(structured(stages.raw))


def fail(source: Source, expected: str, got: Outcome, because: str) -> NoReturn:
    """Fail because our front end compiles the kernel wrongly."""
    __tracebackhide__ = True
    said = f"{type(got).__name__}: {got}" if isinstance(got, Exception) else got.rstrip()
    lines = [f"  expected  {expected}", f"  got       {said}", f"  because   {because}"]
    failure = _failure(source, "\n".join(line.replace("\n", "\n            ") for line in lines))
    raise failure.with_traceback(got.__traceback__ if isinstance(got, Exception) else None) from None


def _failure(source: Source, found: str) -> AssertionError:
    """The failure of a test at this kernel."""
    outcome(source)  # repeated as the last call, from which the grader finds the functions that may be at fault
    failure = AssertionError(f"{shown(source)}\n{found}")
    vars(failure)["last_call"] = True
    return failure


def shown(source: Source) -> str:
    """A kernel with line numbers, and its argument types."""
    lines = [f"{number:3} {line}" for number, line in enumerate(source.text.splitlines(), 1) if line]
    types = [f"{name}: {source.constexprs.get(name, type)}" for name, type in source.signature.items()]
    return "\n".join(["this kernel, compiled for " + ", ".join(types), *lines[2:]])
