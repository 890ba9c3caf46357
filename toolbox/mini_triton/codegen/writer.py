"""Writing source text: lines, indentation, names. (Given.)"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from mini_triton.errors import Loc
from mini_triton.formats import FORMATS
from mini_triton.ir.core import Operation, Value

LIBRARY = "addresses atomics combine exact lazy memory".split()
IMPORTED = ["itertools", "np", *(row.array for row in FORMATS if not row.native)]
LOCALS = ["programs", "P", "len", "map", "range"]


class Names:
    """The variables of generated code, and the source line that the last comment shows."""

    def __init__(self, reserved: Collection[str]) -> None:
        self.names: dict[Value, str] = {}
        self.taken = {*reserved, *keyword.kwlist}
        self.commented: tuple[str, int] | None = None

    def comment_on(self, loc: Loc | None) -> str:
        """A comment with the kernel's source line; "" if the previous comment shows the same line."""
        if not loc or (loc.file, loc.line) == self.commented:
            return ""
        self.commented = (loc.file, loc.line)
        text = loc.excerpt().partition("\n")[0].strip()
        return f"{loc.line}: {text}" if text else f"line {loc.line}"

    def fresh(self, wish: str) -> str:
        """An unused name, as close to `wish` as possible."""
        base = re.sub(r"\W", "_", wish, flags=re.ASCII).strip("_") or "t"
        base = f"t{base}" if base[0].isdigit() else base
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def name(self, value: Value) -> str:
        """The source of a value: its variable, or its inlined expression."""
        if value not in self.names:
            self.names[value] = self.fresh(value.name or "t")
        return self.names[value]


class Writer(Names):
    """Lines of Python, with the operation behind each line."""

    def __init__(self) -> None:
        super().__init__({*LIBRARY, *IMPORTED, *LOCALS})
        self.lines: list[str] = []
        self.operations: list[Operation | None] = []
        self.operation_now: Operation | None = None
        self.depth = 1

    def write(self, line: str) -> None:
        """Write a line, without unnecessary parentheses."""
        self.lines.append("    " * self.depth + tidy(line))
        self.operations.append(self.operation_now)

    @contextmanager
    def indented(self, header: str) -> Iterator[None]:
        """Inside the `with`, lines belong to the block that `header` opens. An empty block gets a `pass`."""
        self.write(header)
        self.depth += 1
        before = len(self.lines)
        yield
        if all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.depth -= 1

    def comment(self, loc: Loc | None) -> None:
        """Write the kernel's source line as a comment, unless the previous comment shows the same line."""
        if text := self.comment_on(loc):
            self.write(f"# {text}")


def tidy(line: str) -> str:
    """A line without unnecessary parentheses."""
    if line.startswith(("#", "else:")):
        return line
    return ast.unparse(ast.parse(f"{line} pass" if line.endswith(":") else line)).partition("\n")[0]
