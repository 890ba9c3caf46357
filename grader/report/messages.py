"""A test's message on the screen: `expected`, `got` and `because` are shown in full; long listings are shortened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from grader.report.terminal import WIDTH, wrap

LONG = 20  # lines of a listing: a kernel, a module, what a test did
_SHOWN = LONG - 6
_LABEL = re.compile(r"( *)(expected|got|because|in|where|here)( {2,})(?=\S)|( *)(expected|got|because) *$")
_LISTED = ("expected", "got")  # labels that own the lines below them
_OPERATION = re.compile(r"\b(?:arith|math|scf|tt|ttg|gpu|cf)\.\w+")
_REGION = re.compile(r"\bscf\.(?:for|while|if)\b|\btt\.(?:reduce|scan)\b")
_SIGNATURE = re.compile(r"( *tt\.func [^(]*\().{60,}(\).*)")
_PROSE = re.compile(r" *[A-Z`'][^%=|]*$")


@dataclass
class _Part:
    """A labeled value with the listing below it, or a heading with its list."""

    lines: list[str] = field(default_factory=list)
    label: str = ""
    hanging: int = 0
    focus: int | None = None  # the line to show in any case

    @property
    def depth(self) -> int:
        return len(self.lines[0]) - len(self.lines[0].lstrip())


def message_lines(text: str, indent: str = "", whole: bool = False) -> Iterator[str]:
    """The lines to show, at most as wide as the screen where a line is prose or a value."""
    for part_number, part in enumerate(_parts(text.splitlines())):
        lines = part.lines if whole else _shortened(part)
        for number, line in enumerate(lines):
            is_value = number == 0 and bool(part.label or part_number == 0)  # a message begins with the call
            if len(indent + line) > WIDTH and (is_value or _PROSE.match(line)):
                yield from wrap(line, indent, " " * (part.hanging or 4 * is_value))
            else:
                yield indent + line


def _parts(lines: list[str]) -> list[_Part]:
    parts: list[_Part] = []
    for line in lines:
        label = _LABEL.match(line)
        depth = len(line) - len(line.lstrip())
        current = parts[-1] if parts else None
        if label:
            parts.append(_Part([line], label[2] or label[5], len(label[0]) - depth))
        elif current is None:
            parts.append(_Part([line]))
        elif current.label in _LISTED:
            current.lines.append(line)
        elif depth <= current.depth and (current.label or line.endswith(":")):
            parts.append(_Part([line]))
        else:
            current.lines.append(line)
    _focus_on_difference({part.label: part for part in parts})
    _focus_on_operation(parts)
    return parts


def _focus_on_difference(parts: dict[str, _Part]) -> None:
    """Two long listings are shown where they first differ."""
    if all(label in parts and len(parts[label].lines) > LONG for label in _LISTED):
        expected, got = (parts[label] for label in _LISTED)
        pairs = zip_longest(expected.lines[1:], got.lines[1:])
        expected.focus = got.focus = next((number for number, (one, two) in enumerate(pairs, 1) if one != two), None)


def _focus_on_operation(parts: list[_Part]) -> None:
    """Another listing is shown around the operation that the message names, or around its first loop or branch."""
    named = {name for part in parts for name in _OPERATION.findall(part.lines[0])} - {"tt.func"}
    for part in parts:
        if part.focus is None and len(part.lines) > LONG:
            about = [number for number, line in enumerate(part.lines) if number and named & {*_OPERATION.findall(line)}]
            regions = [number for number, line in enumerate(part.lines) if number and _REGION.search(line)]
            part.focus = next(iter(about or regions), None)


def _shortened(part: _Part) -> list[str]:
    """The part with a shortened listing: its beginning and end, or the lines around the focus."""
    if len(part.lines) <= LONG:
        return part.lines
    text = [_SIGNATURE.sub(r"\1…\2", line) for line in part.lines]
    head, lines = text[:1], text[1:]
    if part.focus is None:
        first = _SHOWN // 2
        return [*head, *lines[:first], _note(lines, first, len(lines) - first), *lines[-first:]]
    start = max(0, min(part.focus - 1 - _SHOWN // 2, len(lines) - _SHOWN))
    end = start + _SHOWN
    before = [_note(lines, 0, start)] if start else []
    after = [_note(lines, end, len(lines))] if end < len(lines) else []
    return [*head, *before, *lines[start:end], *after]


def _note(lines: list[str], start: int, end: int) -> str:
    indent = " " * (len(lines[start]) - len(lines[start].lstrip()))
    return f"{indent}… {end - start} of {len(lines)} lines are not shown (--verbose shows all)"
