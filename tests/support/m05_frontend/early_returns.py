"""Rewrite real Triton's raw text of functions that return early: each jump becomes an `scf.if`.

What a block jumps to is written where the jump is, so what two blocks jump to is written twice.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from tests.support.m05_frontend.ttir_text import VALUE

Names = Mapping[str, str]

_LABEL = re.compile(r"  \^(bb\d+)(?:\((.*)\))?:.*")
_TARGET = re.compile(r"\^(bb\d+)(?:\((.*?) : [^)]*\))?")
_RESULTS = re.compile(r"tt\.func .*\) -> (?:\((.*?)\)|(\S+)) attributes")


def structured(text: str) -> str:
    """The module with one block in each function."""
    lines = iter(text.splitlines())
    written: list[str] = []
    for line in lines:
        written.append(line)
        if line.startswith("  tt.func"):
            written += _Function(line, itertools.takewhile("  }".__ne__, lines)).lines()
            written.append("  }")
    return "\n".join(written) + "\n"


class _Function:
    def __init__(self, header: str, body: Iterable[str]) -> None:
        types = match[1] or match[2] if (match := _RESULTS.search(header)) else ""
        self.types = types.split(", ") if types else []
        self.numbers = itertools.count()
        self.blocks: dict[str, tuple[list[str], list[str]]] = {"": ([], [])}  # arguments and lines
        label = ""
        for line in body:
            if match := _LABEL.fullmatch(line):
                label = match[1]
                self.blocks[label] = VALUE.findall(match[2] or ""), []
            else:
                self.blocks[label][1].append(line)

    def lines(self) -> Iterator[str]:
        """The body's lines, indented as they were."""
        return self._block("", {}, "tt.return")

    def _block(self, label: str, names: Names, end: str) -> Iterator[str]:
        """The lines of a block and of the blocks that it jumps to, up to a return, which is written as `end`."""
        *before, last = (VALUE.sub(lambda name: names.get(name[0], name[0]), line) for line in self.blocks[label][1])
        yield from before
        targets = [(target, values.split(", ") if values else []) for target, values in _TARGET.findall(last)]
        follow = [(target, {**names, **dict(zip(self.blocks[target][0], v, strict=True))}) for target, v in targets]
        if not follow:
            if end == "tt.return" or self.types:
                yield last.replace("tt.return", end)
        elif len(follow) == 1:
            yield from self._block(*follow[0], end)
        else:
            yield from self._branches(VALUE.findall(last)[0], follow, end)

    def _branches(self, condition: str, follow: list[tuple[str, dict[str, str]]], end: str) -> Iterator[str]:
        """An `scf.if` whose results are returned."""
        name, types = f"%returned_{next(self.numbers)}", ", ".join(self.types)
        results = [f"{name}#{i}" for i in range(len(self.types))]
        yield f"{name}:{len(results)} = scf.if {condition} -> ({types}) {{" if results else f"scf.if {condition} {{"
        yield from self._block(*follow[0], "scf.yield")
        yield "} else {"
        yield from self._block(*follow[1], "scf.yield")
        yield "}"
        if results:
            yield f"{end} {', '.join(results)} : {types}"
        elif end == "tt.return":
            yield end
