"""The front end on random kernels, beside real Triton's. `pytest --examples 2000` draws that many."""

from __future__ import annotations

import functools
import random
import re

import pytest
from hypothesis import given

from tests.support.m05_frontend.random_kernels import Kernel, kernels, write
from tests.support.m05_frontend.random_kernels.judging import judge

OPERATORS = "+ - * / // % & | ^ << >> == != < <= > >= and or".split()
FUNCTIONS = (
    *"where maximum minimum abs exp fma clamp umulhi load store zeros full reshape trans join interleave split".split(),
    *"expand_dims sum max argmax xor_sum reduce cumsum associative_scan".split(),
)
DTYPES = "int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64".split()
CONSTRUCTS = {
    **{operator: rf"\S {re.escape(operator)} \S" for operator in OPERATORS},
    **{f"{operator}=": rf"^ +v\d+ {re.escape(operator)}= " for operator in "+-*&|^"},
    **{f"tl.{name}": rf"\btl\.{name}\(" for name in FUNCTIONS},
    **{f"tl.{dtype}": rf"\btl\.{dtype}\b" for dtype in DTYPES},
    "eight bits": r"\btl\.float8e|'\*fp8e",
    "rounding": r"\btl\.(floor|ceil)\(",
    "negation": r"[ (]-[vrp]",
    "inversion": r"[ (]~",
    "not": r"\bnot ",
    "bitcast": "bitcast=True",
    "new axis": r"v\d+\[(:, None|None, :)\]",
    "masked load": r"tl\.load\(.*mask=",
    "masked store": r"tl\.store\(.*mask=",
    "gathering load": r"tl\.load\(.* & 7\)",
    "atomic": r"tl\.atomic_\w+\(",
    "pointer variable": r"^ +p\d+ = ",
    "pointer that moves": r"^ +p\d+ (\+= |= p)",
    "swap": r"^ +(\w+), (\w+) = \2, \1$",
    "carried tuple": r"^ +t\d+ = \(t",
    "conditional expression": r" if .* else ",
    "if": r"^ +if ",
    "elif": r"^ +elif ",
    "else": r"^ +else:",
    "constant condition": r"^ +if FLAG:",
    "early return of the kernel": r"^ +return$",
    "early return of a helper": r"^        return .",
    "constant range": r"in range\(\d",
    "runtime range": r"in range\(.*\bk\b",
    "negative step": r"in range\(.*, -[12]\)",
    "unrolled loop": r"in tl\.static_range",
    "loop in a loop": r"^     +for ",
    "while": r"^ +while ",
    "helper": r"= f\d+\(",
    "helper with two results": r"^ +v\d+, v\d+ = f",
    "keyword argument": r"= f\d+\(.*[abc]=",
    "default argument": r"^def f.*scale=",
    "constexpr parameter": r"^def .*: tl\.constexpr",
    "tuple reduction": r"tl\.reduce\(\(",
    "index of an extreme": "return_indices=True",
}


@functools.cache
def sources() -> list[str]:
    """A thousand kernels with their signatures, the same each time."""
    return [repr(write(random.Random(seed))) for seed in range(1000)]


@given(kernel=kernels())
def test_same_as_real_tritons(kernel: Kernel) -> None:
    """Real Triton accepts what we make of it, and finds in it the operations and values that its own has."""
    judge([kernel])


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_constructs(construct: str) -> None:
    """Of random kernels, one in a hundred has each construct."""
    found = sum(re.search(CONSTRUCTS[construct], source, re.MULTILINE) is not None for source in sources())
    assert found >= 0.01 * len(sources()), f"{found} of {len(sources())} random kernels have {construct}"
