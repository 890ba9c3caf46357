"""Real Triton's PTX, broken in one place."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A text with one changed line."""

    kind: str
    line: int  # counted from 1
    before: str
    text: str


def _more(found: re.Match[str]) -> str:
    return f"+{int(found[1]) + 16}{found[2]}"


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "drop bar.sync": (r"\bbar\.sync", lambda line: ""),
    "wait_group + 2": (
        r"cp\.async\.wait_group|wgmma\.wait_group",
        lambda line: re.sub(r"(\d+)(\s*;)", lambda n: f"{int(n[1]) + 2}{n[2]}", line),
    ),
    "drop commit_group": (r"cp\.async\.commit_group", lambda line: ""),
    "drop a mask": (r"@%p\d+ (ld|st)\.global", lambda line: re.sub(r"@%p\d+ ", "", line)),
    "copy without mask": (r"cp\.async\.c[ag].*, %r\d+;", lambda line: re.sub(r", %r\d+;", ", 16;", line)),
    "shuffle distance": (
        r"shfl\.sync\.bfly",
        lambda line: re.sub(r", (\d+), 31", lambda n: f", {int(n[1]) * 2 % 31 or 1}, 31", line),
    ),
    "xor to or": (r"\bxor\.b32", lambda line: line.replace("xor.b32", "or.b32")),
    "drop .trans": (r"ldmatrix.*\.trans", lambda line: line.replace(".trans", "")),
    "shared offset + 16": (
        r"(?:(?:ld|st)\.shared|ldmatrix|stmatrix)[^;]*\+\s*\d+\s*\]",
        lambda line: re.sub(r"\+\s*(\d+)(\s*\])", _more, line),
    ),
    "drop a fence": (r"fence\.proxy\.async|wgmma\.fence", lambda line: ""),
    "descriptor + 16 bytes": (
        r"add\.s64\s+%rd\d+, %rd\d+, -?\d{15,};",
        lambda line: re.sub(r"(-?\d{15,})", lambda n: str(int(n[1]) + 1), line),
    ),
    "drop a store to shared memory": (r"st\.shared", lambda line: ""),
}
"""For each kind of mutant, the lines that it changes, and how."""


def mutants(ptx: str) -> Iterator[Mutant]:
    """All mutants of a text."""
    lines = ptx.split("\n")
    for number, line in enumerate(lines):
        if ";" not in line or line.lstrip().startswith((".", "//")):
            continue
        for kind, (pattern, change) in CHANGES.items():
            if re.search(pattern, line) and (new := change(line)) != line:
                yield Mutant(kind, number + 1, line.strip(), "\n".join([*lines[:number], new, *lines[number + 1 :]]))
