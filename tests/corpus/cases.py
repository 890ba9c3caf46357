"""A kernel of the corpus: its file, its arguments, its constants, and a launch of it.

Arguments are written as text: `"out x: *fp32[1000], n: i32 = 1000, p: fp32 = 0.5, ids: *i32[8] = below 100"`.

    *fp32[1000]         a buffer of so many random numbers; an expression may stand for the length
    = zeros, ones       or of these
    = below 100         or of random integers from 0 to 99
    = ascending         or of random numbers in order
    = bits              or of random bits
    = 3 1 4             or of these, again and again
    = addresses a b     or of the addresses of other buffers
    i32:16 = 1008       a number, which the compiler is told is a multiple of 16, as pointers always are
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.oracles.triton import Source

TESTS = Path(__file__).parents[1]
TARGETS = ("sm_80", "sm_90")
ORDER = "programs add to the same place in any order"
FOLDED = "Triton adds a product to a sum inside the product, by a pass on TTIR"
_GROUP = re.compile(
    r"(?P<names>[\w ]+): (?P<type>\*?\w+)(?P<divisible>:16)?(?:\[(?P<length>[^]]+)\])?(?: = (?P<value>.+))?"
)


@dataclass(frozen=True)
class Argument:
    """A parameter that is no constant: a number with a value, or a buffer with a length and a filling.

    A buffer may also be no parameter: only its address is known to another.
    """

    name: str
    type: str  # as signatures spell it
    divisible: bool
    length: int | None = None
    value: str = ""

    @property
    def number(self) -> int | float:
        """The value of a number."""
        return float(self.value) if self.type.startswith(("fp", "bf")) else int(self.value)


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel, specialised, and a launch of it."""

    file: str  # below kernels/, without .py; or, with a slash, below tests/
    kernel: str
    text: str  # the arguments
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    grid: Sequence[int] = (1,)
    suffix: str = ""  # tells specialisations of one kernel apart
    targets: Sequence[str] = TARGETS
    until: str = ""  # the last version of Triton that has what the kernel uses: "3.7"
    inexact: str = ""  # why results may differ in the last bits: ORDER or FOLDED
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kernel}{self.suffix}"

    @property
    def path(self) -> Path:
        """Where the kernel is."""
        return TESTS / f"{self.file}.py" if "/" in self.file else TESTS / "corpus" / "kernels" / f"{self.file}.py"

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """What the kernel is launched with, beside its constants."""
        return tuple(argument for group in self.text.split(", ") for argument in _arguments(group))

    def source(self, target: str = "sm_90") -> Source:
        """The kernel as a question to a compiler."""
        types = {argument.name: argument.type for argument in self.arguments}
        text = self.path.read_text(encoding="utf-8")
        order = re.findall(r"\w+", _parameters(text, self.kernel))
        known = types | dict.fromkeys(self.constexprs, "constexpr")
        signature = {name: known[name] for name in order if name in known}
        divisible = [argument.name for argument in self.arguments if argument.divisible and argument.name in signature]
        return Source(text, self.kernel, signature, self.constexprs, divisible, target, self.options)

    def exists(self, version: str) -> bool:
        """Whether this version of Triton ("3.7.1") has what the kernel uses."""
        return not self.until or _numbers(version)[:2] <= _numbers(self.until)


def _arguments(group: str) -> list[Argument]:
    match = _GROUP.fullmatch(group)
    assert match, f"this is no argument: {group}"
    pointer = match["type"].startswith("*")
    length = eval(match["length"]) if match["length"] else None
    assert pointer == (length is not None), f"buffers have lengths, numbers have none: {group}"
    return [
        Argument(name, match["type"], pointer or bool(match["divisible"]), length, match["value"] or "")
        for name in match["names"].split()
    ]


def _parameters(text: str, kernel: str) -> str:
    """The parameters of a kernel as they are written."""
    match = re.search(rf"^def {kernel}\((.*?)\):", text, re.MULTILINE | re.DOTALL)
    assert match, f"no kernel {kernel}"
    return match[1]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
