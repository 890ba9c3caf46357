"""The lines of the kernel's source from which each line of a stage comes.

Each stage records source lines in its own format. The functions here read this information and remove it from the
displayed text:

    TTIR, TTGIR   %x = tt.load %p loc("add.py":9:12), or loc(#loc5) and, elsewhere, #loc5 = loc("add.py":9:12)
    LLIR          %8 = load float, ptr %7, !dbg !17 and, elsewhere, !17 = !DILocation(line: 9, column: 12, scope: !4)
    PTX           .loc 1 9 12, for all lines up to the next .loc; elsewhere .file 1 "add.py"
    SASS          //## File "add.py", line 9, for all lines up to the next //##
    Python        # 9: x = tl.load(p), for all lines up to the next such comment; at the end of a line, # 9
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

Place: TypeAlias = tuple[str, int]
"""A file, and a line in it."""


@dataclass(frozen=True)
class Line:
    """A line of a stage, and the source lines from which it comes."""

    text: str
    places: frozenset[Place] = frozenset()
    number: int = 0  # in the whole text of the PTX


# --- TTIR and TTGIR

LOCATION = r'loc\((?:[^()"]|"[^"]*"|\((?:[^()"]|"[^"]*")*\))*\)'
ALIAS = re.compile(rf"(#loc\d*) = ({LOCATION})")
LAST = re.compile(rf"({LOCATION})$")
PLACE = re.compile(r'"([^"]*)":(\d+):\d+')


def read_mlir(text: str) -> list[Line]:
    """The lines of a module. An operation that begins and ends on different lines marks both lines."""
    aliases = {found[1]: found[2] for found in map(ALIAS.fullmatch, text.splitlines()) if found}
    known: dict[str, frozenset[Place]] = {}
    lines: list[Line] = []
    opened: list[int] = []  # numbers of lines that opened a block
    for line in text.splitlines():
        if ALIAS.fullmatch(line):
            continue
        found = LAST.search(line)
        places = resolve(found[1], aliases, known) if found else frozenset()
        if line.lstrip().startswith("}") and opened:
            first = opened.pop()
            lines[first] = Line(lines[first].text, lines[first].places | places)
            if line.endswith("{"):
                opened.append(first)
        elif line.endswith("{"):
            opened.append(len(lines))
        lines.append(Line(re.sub(rf" *{LOCATION}", "", line), places))
    return lines


def resolve(location: str, aliases: Mapping[str, str], known: dict[str, frozenset[Place]]) -> frozenset[Place]:
    """The places that a location names, directly or by aliases."""
    if location not in known:
        own = frozenset((file, int(line)) for file, line in PLACE.findall(location))
        named = [aliases[name] for name in re.findall(r"#loc\d*", location) if name in aliases]
        known[location] = own.union(*(resolve(other, aliases, known) for other in named))
    return known[location]


# --- LLIR

NODE = re.compile(r"^(!\d+) = (.*)$", re.MULTILINE)
FIELD = re.compile(r'(\w+): (!?\w+|"[^"]*")')


def read_llir(text: str) -> list[Line]:
    """The lines of an LLVM module, without debug information."""
    nodes = {number: dict(FIELD.findall(body)) for number, body in NODE.findall(text)}
    for node in nodes.values():
        for name in ("filename", "directory"):
            node[name] = node.get(name, "").strip('"')
    lines = []
    for line in text.splitlines():
        if line.startswith("!"):
            continue
        found = re.search(r",? !dbg (!\d+)", line)
        places = frozenset(debugged(found[1], nodes)) if found else frozenset()
        lines.append(Line(line.replace(found[0], "") if found else line, places))
    return trimmed(lines)


def debugged(number: str, nodes: Mapping[str, Mapping[str, str]]) -> Iterator[Place]:
    """The places of a `!DILocation`, and of the calls into which it was inlined."""
    while number in nodes and "line" in nodes[number]:
        node = nodes[number]
        scope = nodes.get(node.get("scope", ""), node)
        file = nodes.get(scope.get("file", ""))
        if file:
            yield str(PurePath(file["directory"], file["filename"])), int(node["line"])
        number = node.get("inlinedAt", "")


# --- PTX and SASS


def read_ptx(text: str) -> list[Line]:
    """The lines of a kernel's PTX, without debug information."""
    files = dict(re.findall(r'^\s*\.file\s+(\d+) "([^"]*)"', text, re.MULTILINE))
    lines, places = [], frozenset[Place]()
    code = re.split(r"^\s*\.(?:section\s+\.debug|file\s)", text, maxsplit=1, flags=re.MULTILINE)[0]
    for at, line in enumerate(code.splitlines(), 1):
        if re.match(r"\s*\.loc\s", line):
            numbers = re.findall(r"(?:\.loc|inlined_at)\s+(\d+) (\d+)", line)
            places = frozenset((files.get(file, ""), int(number)) for file, number in numbers)
        elif not re.match(r"\$L__(tmp|func_)\w+:", line):
            is_code = line.startswith("\t") and not line.startswith("\t.")
            shown = line.replace("\t", "    ", 1).replace("\t", " ")
            lines.append(Line(shown, places if is_code else frozenset(), at))
    return trimmed(lines)


def read_sass(text: str) -> list[Line]:
    """The instructions and labels of a kernel's machine code."""
    lines, places = [], frozenset[Place]()
    for line in text.splitlines():
        if found := re.findall(r'(?:File|at) "([^"]*)", line (\d+)', line):
            places = frozenset((file, int(number)) for file, number in found)
        elif code := re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?) *;", line):
            lines.append(Line(f"{code[1]}  {code[2]}", places))
        elif re.match(r"\.L_\w+:", line):
            lines.append(Line(line))
    return lines


# --- Python


def read_python(text: str, source: Mapping[Place, str]) -> list[Line]:
    """The lines of generated code. `source` contains the lines that comments may quote, without indentation."""
    lines, places = [], frozenset[Place]()
    for line in text.splitlines():
        if mark := re.match(r"\s+# (?:line )?(\d+)(?:: (.*))?$", line):
            places = frozenset(quoted(int(mark[1]), mark[2], source))
        elif line[:1] not in ("", " "):
            places = frozenset()
        code, _, number = line.partition("  # ")
        if code.strip() and number.isdigit():
            lines.append(Line(code, frozenset(quoted(int(number), None, source))))
        else:
            lines.append(Line(line, places if line else frozenset()))
    return lines


def quoted(number: int, text: str | None, source: Mapping[Place, str]) -> Iterable[Place]:
    """The places with this line number, in any file, and this text."""
    return (place for place, known in source.items() if place[1] == number and text in (None, known))


def read_plain(text: str) -> list[Line]:
    """The lines of a text without source locations."""
    return [Line(line) for line in text.splitlines()]


def trimmed(lines: list[Line]) -> list[Line]:
    """The lines, without empty lines at the ends, and with one empty line in place of several."""
    kept: list[Line] = []
    for line in lines:
        if line.text.strip() or (kept and kept[-1].text.strip()):
            kept.append(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    return kept


READERS: dict[str, Callable[[str], list[Line]]] = {
    "ttir": read_mlir,
    "ttgir": read_mlir,
    "llir": read_llir,
    "ptx": read_ptx,
    "sass": read_sass,
}
"""By the suffix of a stage's file."""


def read_text(suffix: str, text: str, source: Mapping[Place, str]) -> list[Line]:
    """The lines of a stage whose files end in this suffix."""
    if suffix == "py":
        return read_python(text, source)
    return READERS.get(suffix, read_plain)(text)


def numbers_of(line: Line, numbers: Mapping[Place, int]) -> list[int]:
    """The numbers of the source lines from which a line comes."""
    return sorted(numbers[place] for place in line.places if place in numbers)
