"""Features of the language, each as an expression or a few statements: forms, functions, arguments, dtypes.

`expressions.txt` and `programs.txt` have features that real Triton compiles, and `refused.txt` features that it
refuses, by theme. They use the names of `PARAMETERS`, `VALUES` and `DEFINITIONS`; a kernel gets the names that its
feature uses, and passes the value of an expression to `show`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from tests.corpus.themes import read
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

DEFINITIONS = Path(__file__).with_name("definitions.txt").read_text(encoding="utf-8")
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
    return read(Path(__file__).with_name(file), "\n" if file == "expressions.txt" else "\n\n")


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
