"""Small functions that rules can simplify, and the number of operations that real Triton leaves.

A line with a pattern is a function that returns what the pattern describes; a block of lines is a function's text.
A number after `->` is the most operations that may be left, if real Triton leaves more.
"""

from __future__ import annotations

import functools
import math
import random
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from mini_triton.ir.core import Operation
from mini_triton.ir.parser import parse_module
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import Type, shape_of
from mini_triton.transforms.rewriting import Pattern, parse

from tests.oracles import triton
from tests.support.m09_passes.rewrites import function, joined
from tests.support.m09_passes.rules import Maker, Misfit

THEIRS = ("canonicalizer", "combine", "reorder_broadcast", "canonicalizer")
FREE = ("arith.constant", "tt.return", "tt.func", "builtin.module")


@dataclass(frozen=True)
class Snippet:
    """A function: text, or a pattern whose root takes several types in turn."""

    name: str
    text: str = ""
    types: tuple[Type, ...] = ()
    promised: int | None = None  # the permitted number of operations, if it is smaller than real Triton's

    def __str__(self) -> str:
        return self.name

    @property
    def texts(self) -> list[str]:
        """Modules with this function."""
        return [described(self.name, type) for type in self.types] or [self.text]


def patterns(lines: str, *types: Type) -> list[Snippet]:
    """A snippet for each line with a pattern."""
    pairs = [line.strip().partition(" -> ") for line in lines.strip().splitlines()]
    return [Snippet(text, types=types, promised=int(promised) if promised else None) for text, _, promised in pairs]


def functions(text: str) -> list[Snippet]:
    """A snippet for each block of lines, which begins with a name and parameters."""
    found = []
    for block in re.split(r"\n\s*\n", textwrap.dedent(text).strip()):
        head, *lines = block.splitlines()
        signature, _, promised = head.partition(" -> ")
        name, _, parameters = signature.partition(": ")
        body = function(parameters, "\n".join(lines))
        found.append(Snippet(name, body, promised=int(promised) if promised else None))
    return found


@functools.cache
def described(pattern: str, type: Type) -> str:
    """The text of a module with a function that returns what a pattern describes."""
    root = parse(pattern)
    assert isinstance(root, Pattern)
    for seed in range(100):
        try:
            return print_module(Maker(random.Random(seed)).function(root, type))
        except Misfit:
            continue
    raise AssertionError(f"{pattern} cannot be a {type}")


def size(function: Operation) -> tuple[int, int]:
    """The number of a function's operations, and of the elements that they compute. Constants do not count."""
    counted = [operation for operation in function.walk() if operation.name not in FREE]
    return len(counted), sum(math.prod(shape_of(result.type)) for o in counted for result in o.results)


@functools.cache
def left_by_triton(texts: Sequence[str]) -> dict[str, Operation]:
    """Each of these functions after real Triton's passes."""
    theirs = parse_module(triton.canonical(joined(texts), THEIRS))
    return dict(zip(texts, theirs.body.operations, strict=True))
