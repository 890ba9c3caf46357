"""A kernel compiled for one signature, as C declares it: names, arguments, and facts about the arguments.

    "*fp32:16, i32, i32:1, 64"
      │        │    │      └── a constant: known to the compiler, and not an argument
      │        │    └── an integer that is always 1: known to the compiler, and not passed from C
      │        └── an argument
      └── a pointer whose address is a multiple of 16

Source: `compile_kernel` in Triton's `python/triton/tools/compile.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mini_triton.formats import FORMATS, Kind
from mini_triton.language.signature import parse_type

WORDS = {"None": None, "True": True, "False": False}
"""Constants that are not numbers."""
LETTERS = {1: "c", 16: "d"}
"""How names spell hints: "c" for constant, "d" for divisible by 16."""


@dataclass(frozen=True)
class Entry:
    """The entry of a signature for one parameter."""

    type: str  # "*fp32", "i32", ...; "constexpr" for a constant
    value: Any = None  # the constant: a number, a bool, or None
    hint: int | None = None  # 16: the argument is a multiple of 16; 1: it is 1


def read_entry(text: str) -> Entry:
    """Read one entry of a signature: `read_entry("i32:16")` is `Entry("i32", hint=16)`.

    An int, a float, or one of `WORDS` is a constant: `read_entry("64")` is `Entry("constexpr", 64)`. Raises
    `ValueError`, with the entry in the message, for a hint other than 1 and 16, and for a hint that cannot hold: only
    integers can be 1, and only integers and pointers can be multiples of 16. Also raises `ValueError` for an unknown
    type.
    """
    # Task 10.4: Python's `int` and `float` decide what is a number, such as "-1", "1e-5" and "inf". `parse_type`
    # raises the error for an unknown type. `is_integer` does not count bools as integers.
    raise NotImplementedError("Task 10.4: Ahead of time")


def is_integer(type: str) -> bool:
    """Whether arguments of this type are integers. (Given.)"""
    return any(row.signature == type and row.kind is Kind.INT for row in FORMATS)


def c_type(type: str) -> str:
    """The type of an argument in C: "CUdeviceptr" for any pointer, "int32_t", "uint8_t", "float", ...

    The GPU reads the bytes that C passes, so the type in C must have the same size as `type`. C does not have 8-bit or
    16-bit floats; their bits are passed as an unsigned integer. A bool is one byte: "int8_t" for "i1", "uint8_t" for
    "u1".
    """
    # Task 10.4: Each row of `FORMATS` has a `kind`, a `width` and a `signed` flag. No row describes "i1".
    raise NotImplementedError("Task 10.4: Ahead of time")


@dataclass(frozen=True)
class Variant:
    """A kernel for one signature."""

    out_name: str  # the kernel's name in C
    texts: Sequence[str]  # the entries of the signature, as written
    entries: Mapping[str, Entry]  # by parameter, in order
    num_warps: int
    num_stages: int

    @property
    def constants(self) -> dict[str, Any]:
        """The values of the constants. (Given.)"""
        return {name: entry.value for name, entry in self.entries.items() if entry.type == "constexpr"}

    @property
    def known(self) -> dict[str, Any]:
        """The values known at compile time: the constants, and the integers that are 1. (Given.)"""
        return self.constants | {name: 1 for name, entry in self.entries.items() if entry.hint == 1}

    @property
    def arguments(self) -> dict[str, Entry]:
        """The arguments that all variants of the kernel share: all parameters except constants. (Given.)"""
        return {name: entry for name, entry in self.entries.items() if entry.type != "constexpr"}

    @property
    def passed(self) -> dict[str, Entry]:
        """The arguments of this variant's C function: those not known at compile time. (Given.)"""
        return {name: entry for name, entry in self.arguments.items() if name not in self.known}

    @property
    def options(self) -> str:
        """The options, as spelled in names: "warps4xstages3". (Given.)"""
        return f"warps{self.num_warps}xstages{self.num_stages}"

    @property
    def hash(self) -> str:
        """Eight hexadecimal digits, a hash of the signature and the options. (Given.)"""
        return hashlib.sha256(" ".join([*self.texts, self.options]).encode()).hexdigest()[:8]

    @property
    def suffix(self) -> str:
        """The hints, as part of a C name: "0d3c" if parameter 0 is a multiple of 16, and parameter 3 is 1."""
        # Task 10.4: Parameters are numbered from 0, and constants also count. `LETTERS` maps hints to letters.
        raise NotImplementedError("Task 10.4: Ahead of time")

    @property
    def name(self) -> str:
        """The name of the C function, as in Triton: `add_d9384e65_0d1d2d`. (Given.)"""
        return f"{self.out_name}_{self.hash}_{self.suffix}"

    @property
    def algorithm(self) -> str:
        """The constants and options, as part of a C name: "m1" for -1, "0p5" for 0.5. (Given.)

        Among variants of one algorithm, the linked function chooses by hints. In Triton, the algorithm also contains
        the arguments known to be 1, so Triton never chooses a variant because an argument is 1.
        """
        constants = "x".join(map(str, self.constants.values()))
        return re.sub(r"\W", "", constants.replace("-", "m").replace(".", "p")) + f"_{self.options}"


def declare(arguments: Mapping[str, Entry]) -> str:
    """Arguments as C declares them: "CUdeviceptr x, int32_t n". (Given.)"""
    return ", ".join(f"{c_type(entry.type)} {name}" for name, entry in arguments.items())


def prototype(*arguments: str) -> str:
    """The parameters of a C function that launches a kernel: the stream, then declared arguments. (Given.)"""
    return ", ".join(filter(None, ("CUstream stream", *arguments)))
