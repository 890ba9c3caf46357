"""Every feature of the language that real Triton's own tests touch: both compilers make the same of it, or refuse it.

A refusal begins with Triton's own sentence, because people search for that.
"""

import re

import numpy as np
import pytest

from tests import oracles
from tests.corpus.features import source, themes
from tests.corpus.inputs import DTYPES
from tests.oracles import records, triton
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import CompilationError, fail, judge_valid, outcome
from tests.support.m06_codegen import numpy_backend
from tests.support.m06_codegen.numpy_backend import Mode
from tests.support.sources import compiled

EXPRESSIONS, PROGRAMS, REFUSED = map(themes, ("expressions.txt", "programs.txt", "refused.txt"))
ENOUGH = 40
"""Letters of a message that have to be Triton's."""
SPELLINGS = (
    (r"triton\.language\.|<class| at 0x\w+", ""),
    (r"constexpr(?=\[(\d|Ell))", ""),  # sizes, and `...`
    (r"\bfloat(?=\d+\b)", "fp"),
    (r"\W+", " "),
)
"""Differences in messages that do not count, such as spellings of dtypes and shapes, and their replacements."""

BEYOND = {
    "show(var(x, y))": "functions with *parameters, in Triton from 3.8 on",
    "show(varlen(n, *(1, 2, 3)))": "the same",
    "show([a + b for a, b in ((1, 2), (3, 4))][1] + n)": "several targets of a comprehension, from 3.9 on",
    "show([v for v in (10, 20, 30) if v >= 20][0] + n)": "filters of a comprehension, from 3.9 on",
    "show(ident((n, n)[:-1] + (1,))[1])": "sums of tuples as arguments, from 3.9 on",
    "y: tl.constexpr\nx, y = 0, 0\ntl.static_assert(x.dtype == tl.int32)": "a declaration without a value, from 3.9 on",
    "tl.atomic_add(pi + tl.arange(0, 16), 1, mask=True)": "numbers as masks of atomics, from 3.8 on",
}
"""Features that the pinned version of Triton does not compile as newer ones do."""


def leading() -> None:
    """End the test where Triton has another version than the pinned one: features come and go."""
    if triton.version() != records.LEADING:
        oracles.unavailable(f"the features are those of Triton {records.LEADING}")


def compiles(kernels: list[Source]) -> None:
    """Both compilers accept these kernels, and compile them to the same IR."""
    leading()
    for kernel in kernels:
        judge_valid(kernel)


@pytest.mark.parametrize("theme", EXPRESSIONS)
def test_expressions(theme: str) -> None:
    compiles([source(feature, is_expression=True) for feature in EXPRESSIONS[theme]])


@pytest.mark.parametrize("theme", PROGRAMS)
def test_programs(theme: str) -> None:
    compiles([source(feature) for feature in PROGRAMS[theme]])


@pytest.mark.parametrize("theme", REFUSED)
def test_refusals(theme: str) -> None:
    leading()
    kernels = [source(feature) for feature in REFUSED[theme]]
    for kernel, theirs in zip(kernels, triton.frontends(kernels), strict=True):
        assert not theirs, f"the feature is wrong, real Triton accepts this:\n{kernel.text}"
        ours = outcome(kernel)
        expected = f"a CompilationError that begins so: {theirs.diagnostic}"
        if not isinstance(ours, CompilationError) or not start_of(ours.message).startswith(start_of(theirs.diagnostic)):
            fail(kernel, expected, ours, "people search for Triton's own sentence")


def start_of(message: str) -> str:
    """The beginning of a message, without its spellings."""
    for pattern, replacement in SPELLINGS:
        message = re.sub(pattern, replacement, message)
    return message.strip()[:ENOUGH]


@pytest.mark.parametrize("feature", BEYOND)
def test_beyond(feature: str) -> None:
    kernel = source(feature)
    if isinstance(ours := outcome(kernel), Exception):
        fail(kernel, "a module", ours, BEYOND[feature])


# --- on the CPU

NUMBERS = {"i32": 3, "i64": 5, "u32": 7, "fp32": 1.5, "fp16": 0.5, "u1": 1}
ELSEWHERE = re.compile(r"inline_asm|softmax|px\.to\(|show\((at \+ |\(|tl\.multiple_of\()?p|px \+ at, py")
"""Not compared: machine code of GPUs, addresses, and sums whose order decides the last digit."""


def printed(kernel: Source, mode: Mode, capsys: pytest.CaptureFixture[str]) -> tuple[str, list[bytes]]:
    """The output of a kernel, and the memory after it."""
    arguments = [
        NUMBERS[kind] if kind in NUMBERS else (np.arange(4096) % 13).astype(DTYPES[kind.lstrip("*k")])
        for kind in kernel.signature.values()
        if kind != "constexpr"
    ]
    module = compiled(kernel)
    capsys.readouterr()
    after = numpy_backend.run(module, (1,), arguments, mode=mode)
    return capsys.readouterr().out, [value.tobytes() for value in after if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("theme", sorted({*EXPRESSIONS, *PROGRAMS}))
def test_as_interpreted(theme: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The NumPy back end prints and stores what the plain interpreter does."""
    kernels = [source(feature, is_expression=True) for feature in EXPRESSIONS.get(theme, ())]
    kernels += [source(feature) for feature in PROGRAMS.get(theme, ())]
    for kernel in kernels:
        if not ELSEWHERE.search(kernel.text):
            expected = printed(kernel, "interpreted", capsys)
            assert printed(kernel, "batched", capsys) == expected, kernel.text
