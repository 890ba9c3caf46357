"""Small functions that rules can simplify, read from `peepholes.txt`, and what real Triton leaves of them."""

import functools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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


def snippets() -> dict[str, list[Snippet]]:
    """The snippets in `peepholes.txt` by group."""
    found: dict[str, list[Snippet]] = {}
    text = Path(__file__).with_name("peepholes.txt").read_text(encoding="utf-8")
    for part in text.split("\n## ")[1:]:
        head, _, body = part.partition("\n")
        group, _, types = head.partition(": ")
        found.setdefault(group, []).extend(patterns(body, types_of(types)) if types else functions(body))
    return found


def types_of(spelled: str) -> tuple[Type, ...]:
    """The types in a list of types."""
    parameters = ", ".join(f"%x{number}: {type}" for number, type in enumerate(spelled.split(", ")))
    (made,) = parse_module(function(parameters, "tt.return")).body.operations
    return tuple(argument.type for argument in made.regions[0].block.arguments)


def patterns(lines: str, types: tuple[Type, ...]) -> Iterator[Snippet]:
    """A snippet for each line with a pattern."""
    for line in lines.strip().splitlines():
        pattern, _, promised = line.partition(" -> ")
        yield Snippet(pattern, types=types, promised=int(promised) if promised else None)


def functions(text: str) -> Iterator[Snippet]:
    """A snippet for each block of lines, which begins with a name and parameters."""
    for block in text.strip().split("\n\n"):
        head, _, lines = block.partition("\n")
        signature, _, promised = head.partition(" -> ")
        name, _, parameters = signature.partition(": ")
        yield Snippet(name, function(parameters, lines), promised=int(promised) if promised else None)


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
