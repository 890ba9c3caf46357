"""A random kernel as data: its source, and all that is needed to compile and to run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Buffer:
    """An argument in memory: a number of elements, read or written but not both."""

    dtype: str  # as Triton prints it: "fp32", "int8"
    length: int
    written: bool = False


@dataclass(frozen=True)
class Scalar:
    """An argument that is passed as it is."""

    dtype: str
    value: int | float | bool


@dataclass(frozen=True, repr=False)
class Kernel:
    """A file's text with one kernel, what it is specialised for, and what it may be launched with."""

    name: str
    source: str
    signature: Mapping[str, str]  # of all parameters, as real Triton's ASTSource takes it
    constexprs: Mapping[str, int | bool]
    divisible: tuple[str, ...]  # parameters that are promised to be multiples of 16
    arguments: Mapping[str, Buffer | Scalar]  # of all parameters that are no constexprs, in order
    grid: tuple[int, int, int]

    def __repr__(self) -> str:
        promises = f"constexprs={dict(self.constexprs)}, divisible={self.divisible}, grid={self.grid}"
        return f"{self.source}\n# signature={dict(self.signature)}\n# {promises}"
