"""Source text in the making: lines, indentation, names. (Given.)"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager

from mini_triton.errors import Loc
from mini_triton.ir.core import Value

RESERVED = {"np", "exact", "memory", "combine", "atomics", "active", "programs", "bfloat16", "float8_e5m2", "float8_e4m3fn"}


class Writer:
    """Lines of Python, written one after the other."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[Value, str] = {}
        self.taken = set(RESERVED) | set(keyword.kwlist)
        self.shown: Loc | None = None

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def indented(self, header: str) -> Iterator[None]:
        """Inside the `with`, lines belong to the block that `header` opens. An empty block gets a `pass`."""
        self.write(header)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before or all(line.lstrip().startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.depth -= 1

    def comment(self, loc: Loc | None) -> None:
        """The kernel's own line, where a new one begins."""
        if loc and (self.shown is None or (loc.file, loc.line) != (self.shown.file, self.shown.line)):
            self.shown = loc
            source = loc.excerpt().partition("\n")[0].strip()
            self.write(f"# {loc.line}: {source}")

    def fresh(self, wish: str) -> str:
        """A name that nothing has yet, as like `wish` as possible."""
        base = re.sub(r"\W", "_", wish).strip("_") or "t"
        base = f"t{base}" if base[0].isdigit() else base
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name

    def name(self, value: Value) -> str:
        """The name of a value, made when it is first asked for."""
        if value not in self.names:
            self.names[value] = self.fresh(value.name or "t")
        return self.names[value]
