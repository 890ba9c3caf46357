"""A test's message on the screen: expected, got and because are whole; only long listings are shortened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.terminal import WIDTH, wrap

LONG = 16  # lines of a listing: a kernel, a module, what a test did
_SHOWN = LONG - 4
_LABEL = re.compile(r"( *)(expected|got|because|in|where|here)( {2,})(?=\S)", re.IGNORECASE)
_PROSE = re.compile(r" *[A-Z`'][^%=|]*$")


@dataclass
class _Part:
    """Lines that belong together: a labelled value with its further lines, or a heading with its list."""

    lines: list[str] = field(default_factory=list)
    label: str = ""
    hanging: int = 0


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
            parts.append(_Part([line], label[2], len(label[0]) - depth))
        elif current and current.label and depth <= _depth(current):
            parts.append(_Part([line]))
        elif current is None or line.endswith(":") and not current.label and depth <= _depth(current):
            parts.append(_Part([line]))
        else:
            current.lines.append(line)
    return parts


def _depth(part: _Part) -> int:
    return len(part.lines[0]) - len(part.lines[0].lstrip())


def _shortened(part: _Part) -> list[str]:
    """The part, without the middle of a long listing."""
    hidden = len(part.lines) - _SHOWN
    if len(part.lines) <= LONG:
        return part.lines
    first = _SHOWN // 2 + 1
    indent = re.match(" *", part.lines[first])[0]  # type: ignore[index]
    note = f"{indent}… {hidden} of {len(part.lines)} lines are not shown (--verbose shows all)"
    return [*part.lines[:first], note, *part.lines[first + hidden :]]
