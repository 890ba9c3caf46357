"""Features of the language, each as an expression or a few statements: forms, functions, arguments, dtypes.

`expressions.txt` and `programs.txt` have features that real Triton compiles, and `refused.txt` features that it
refuses, by theme. They use the names of `PARAMETERS`, `VALUES` and `DEFINITIONS`; a kernel gets the names that its
feature uses, and passes the value of an expression to `show`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import kernel, used

PARAMETERS = {
    "px": "*fp32",
    "py": "*fp32",
    "pi": "*i32",
    "pu": "*u32",
    "ph": "*fp16",
    "pb": "*bf16",
    "pc": "*i8",
    "pl": "*i64",
    "pd": "*fp64",
    "p8": "*u8",
    "pt": "*i1",
    "pk": "*kfp32",
    "n": "i32",
    "m": "i64",
    "k": "u32",
    "f": "fp32",
    "hf": "fp16",
    "t": "u1",
    "N": "=16",
    "HALF": "=0.5",
    "YES": "=True",
    "NONE": "=None",
    "TEXT": "='abc'",
    "T": "=(1, 4, 2.5)",
    "DTYPE": "=tl.float16",
    "FN": "=add",
    "FNS": "=(add, mul)",
}
"""Of a kernel, as signatures spell them; `=` is in front of constants."""

VALUES = {
    "at": "tl.arange(0, 16)",
    "x": "tl.load(px + tl.arange(0, 16))",
    "y": "tl.load(py + tl.arange(0, 16))",
    "i": "tl.load(pi + tl.arange(0, 16))",
    "j": "tl.load(pi + 16 + tl.arange(0, 16))",
    "u": "tl.load(pu + tl.arange(0, 16))",
    "h": "tl.load(ph + tl.arange(0, 16))",
    "g": "tl.load(pb + tl.arange(0, 16))",
    "c": "tl.load(pc + tl.arange(0, 16))",
    "l": "tl.load(pl + tl.arange(0, 16))",
    "d": "tl.load(pd + tl.arange(0, 16))",
    "c8": "tl.load(p8 + tl.arange(0, 16))",
    "b": "tl.load(px + tl.arange(0, 16)) > 0",
    "X": "tl.load(px + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :])",
    "I": "tl.load(pi + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :])",
    "H": "tl.load(ph + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])",
    "C": "tl.load(pc + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :])",
    "W": "tl.load(px + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])",
    "sx": "tl.load(px)",
    "si": "tl.load(pi)",
}
"""Locals: blocks of each dtype, matrices, scalars."""

DEFINITIONS = """
@triton.jit
def show(value):
    tl.device_print('shown', value)

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def mul(a, b):
    return a * b

@triton.jit
def both(a, b):
    return a + b, a - b

@triton.jit
def inc(values):
    return tl.tuple([v + 1 for v in values])

@triton.jit
def swap(pair):
    return pair[1], pair[0]

@triton.jit
def dflt(a, b=2, C: tl.constexpr = 3):
    return a * b + C

@triton.jit
def var(*xs):
    return xs[0]

@triton.jit
def varlen(a, *xs):
    return a + len(xs)

@triton.jit
def early(a):
    if a > 0:
        return a
    return -a

@triton.jit
def early2(a):
    if a > 0:
        return a, 1
    else:
        return -a, 0

@triton.jit
def none():
    return

@triton.jit
def ident(a):
    return a

@triton.jit
def sign(x):
    if x < 0:
        return 1
    else:
        return 0

class Point(NamedTuple):
    first: tl.tensor
    second: tl.tensor

class Fun(NamedTuple):
    fn: tl.constexpr
    captured: tuple

class K:
    SIZE: tl.constexpr = tl.constexpr(8)
    @staticmethod
    @triton.constexpr_function
    def twice(v):
        return 2 * v

class MODE(enum.Enum):
    A = 1
    B = 2

@triton.constexpr_function
def cf(x):
    return x + 1

@triton.constexpr_function
def cft(a, b):
    return (a, b)

G = tl.constexpr(7)

GT = tl.constexpr((3, 5))

GD = tl.float16

ANN: tl.constexpr = 42

PLAIN = 3

@triton.jit
def rec(x):
    if x.shape[0] == 1:
        return x
    else:
        x0, x1 = x.reshape((x.shape[0] // 2, 2)).split()
        return rec(x0) + rec(x1)

@triton.jit
def two():
    return tl.arange(0, 4)
    return tl.arange(0, 8)

@triton.jit
def retc(N: tl.constexpr):
    if N == 0:
        return tl.arange(0, 4)
    else:
        return tl.arange(0, 8)

@triton.jit
def welford(m1, s1, w1, m2, s2, w2):
    d = m2 - m1
    w = w1 + w2
    return m1 + d * w2 / w, s1 + s2 + d * d * w1 * w2 / w, w

@triton.jit
def lin(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2

@triton.jit
def roll(a1, b1, c1, a2, b2, c2):
    return a1 + a2, tl.where(a2 == 1, b1, 0) + b2, c2

@triton.jit
def gmax(a, b):
    return tl.maximum(a, b)

@triton.jit
def cret():
    return tl.constexpr(42)

def plainfn(a):
    return a
"""
"""What stands before the kernel, an empty line between two of them."""

IMPORTS = {
    "math": "import math",
    "tlmath": "import triton.language.math as tlmath",
    "libdevice": "from triton.language.extra import libdevice",
    "cuda": "from triton.language.extra import cuda",
    "NamedTuple": "from typing import NamedTuple",
    "enum": "import enum",
}


def themes(file: str) -> dict[str, list[str]]:
    """The features of a file by theme."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    between = "\n" if file == "expressions.txt" else "\n\n"
    return {name: [feature.strip("\n") for feature in lines.strip("\n").split(between)] for name, _, lines in parts}


def source(feature: str, is_expression: bool = False) -> Source:
    """A kernel with this feature, and with the names that it uses."""
    body = f"show({feature})" if is_expression else feature
    lines = [f"{name} = {value}" for name, value in used(VALUES, body).items()]
    body = "\n".join([*lines, body])
    parameters = used(PARAMETERS, body)
    return kernel(body, parameters, definitions(f"{body} {parameters}"))


def definitions(text: str) -> str:
    """The definitions that a text uses, directly or through other definitions."""
    known: Mapping[str, str] = {name_of(definition): definition for definition in DEFINITIONS.strip().split("\n\n")}
    found: dict[str, str] = {}
    while (more := used(known, " ".join([text, *found.values()]))).keys() != found.keys():
        found = more
    return "\n".join([*used(IMPORTS, " ".join([text, *found.values()])).values(), *found.values()])


def name_of(definition: str) -> str:
    """The name that a definition binds."""
    match = re.search(r"^(?:def |class )?(\w+)", re.sub(r"^@.*\n", "", definition))
    assert match, definition
    return match[1]
