"""Kernels given as Python text: the modules that real Triton makes from them, or the reasons for a refusal."""

import dataclasses

import pytest

from tests.oracles import triton
from tests.oracles.triton import Code, Source

HEAD = "import triton\nimport triton.language as tl\n\n\n"
TEXT = f"""{HEAD}@triton.jit
def scaled(x, factor):
    wide = x.to(tl.float32)
    return wide * factor


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, DTYPE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(x + at, scaled(value, 2).to(DTYPE), mask=at < n)
"""
SIGNATURE = {"x": "*fp16", "n": "i32", "BLOCK": "constexpr", "DTYPE": "constexpr"}
GOOD = Source(TEXT, "kernel", SIGNATURE, {"BLOCK": 64, "DTYPE": Code("tl.float16")}, divisible=("x",))


def without(old: str, new: str = "") -> Source:
    """The valid source with a part of its text replaced."""
    assert old in TEXT
    return dataclasses.replace(GOOD, text=TEXT.replace(old, new))


def test_every_step() -> None:
    source = dataclasses.replace(GOOD, divisible=("x", "n"), target="sm_80")
    (made,) = triton.frontends([source], steps=True, lower=True)
    assert made, made.diagnostic
    assert "tt.call" in made.raw and "tt.call" not in made.inlined
    assert triton.canonical(made.raw) == made.canonical
    assert triton.ops(made.canonical) == made.ops
    assert "%arg1: i32 {tt.divisibility = 16 : i32}" in made.optimised
    assert ".target sm_80" in made.compiled.ptx and made.compiled.count("ld.global") == 1


@pytest.mark.parametrize(
    ("old", "new", "error", "words", "lines"),
    [
        ("value, 2", "values, 2", "NameError", "values is not defined", (15,)),
        ("* factor", "* tl.arange(0, 2)", "ValueError", "incompatible dimensions at index 0: 64 and 2", (15, 8)),
        ("wide = x", "wide = y", "NameError", "y is not defined", (15, 7)),
        ("wide * factor", "tl.sum(wide, axis=3)", "ValueError", "", (15, 8)),
        ("def scaled(x, factor)", "def scaled(x, factor", "SyntaxError", "was never closed", (6,)),
        ("@triton.jit\ndef scaled", "def scaled", "NameError", "Cannot access global variable scaled", (14,)),
        ("BLOCK)", "BLOCK);;", "SyntaxError", "", (13,)),
        ("tl.store", "tl.static_assert(BLOCK < 64)\n    tl.store", "CompileTimeAssertionFailure", "", (15,)),
    ],
)
def test_refusals_are_data(old: str, new: str, error: str, words: str, lines: tuple[int, ...]) -> None:
    (made,) = triton.frontends([without(old, new)])
    assert not made and words in made.diagnostic
    assert (made.error, made.line, made.lines) == (error, lines[-1], lines)
