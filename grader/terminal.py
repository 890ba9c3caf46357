"""Styled lines: in colour through rich on a terminal, plain when piped or where rich is not installed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self, TextIO


class Span(NamedTuple):
    """A run of text in one style (rich's names), which may link to a file."""

    text: str
    style: str = ""
    link: str = ""


Line = list[Span]

_ASCII = str.maketrans("█░✓✗○–…", "#.+xo-~")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def line(text: str = "", style: str = "", link: str = "") -> Line:
    """A line of a single span."""
    return [Span(text, style, link)]


def safe(text: str) -> str:
    """Text from the learner's program; control characters become visible and cannot steer the terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text.expandtabs(4))


def show(lines: Iterable[Line], stream: TextIO) -> None:
    """Write the lines, with colours and clickable paths if `stream` is a terminal that has them."""
    if not stream.isatty() and not os.environ.get("FORCE_COLOR"):
        return _show_plain(lines, stream)
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        return _show_plain(lines, stream)
    console = Console(file=stream, highlight=False)
    for spans in lines:
        text = Text()
        for span in spans:
            link = f" link {span.link}" if span.link else ""
            text.append(_encodable(span.text, stream), style=(span.style + link).strip())
        console.print(text, soft_wrap=True)


class Status:
    """The one line that says what runs now, on a terminal only; gone when the work is done."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream if stream.isatty() else None

    def note(self, event: Mapping[str, Any]) -> None:
        """Follow what the grader's child processes tell."""
        what = event.get("test") or event.get("module")
        if self.stream and what:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[2K{_encodable(str(what), self.stream)[:width]}")
            self.stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.stream:
            self.stream.write("\r\x1b[2K")
            self.stream.flush()


def _show_plain(lines: Iterable[Line], stream: TextIO) -> None:
    for spans in lines:
        text = "".join(span.text for span in spans).rstrip()
        stream.write(_encodable(text, stream) + "\n")
    stream.flush()


def _encodable(text: str, stream: TextIO) -> str:
    """The text, in ASCII where the stream's encoding lacks our marks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
    return text
