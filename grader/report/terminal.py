"""Styled lines: in color through rich on a terminal, plain when piped or where rich is not installed."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO


class Span(NamedTuple):
    """A run of text in one style (rich's names), which may link to a file."""

    text: str
    style: str = ""
    link: str = ""


Line = list[Span]

WIDTH = 80

_ASCII = str.maketrans("█░✓✗○–…", "#.+xo-~")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def line(text: str = "", style: str = "", link: str = "") -> Line:
    """A line of a single span."""
    return [Span(text, style, link)]


def safe(text: str) -> str:
    """Text from the learner's program. Control characters become visible, so that they cannot control the terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text.expandtabs(4))


def wrap(text: str, indent: str = "", hanging: str = "") -> list[str]:
    """The text's lines, indented; long ones are broken at spaces, except for code."""
    lines = []
    for line in text.splitlines():
        body = line.lstrip()
        margin = indent + line[: len(line) - len(body)]
        broken = textwrap.wrap(
            body,
            WIDTH,
            initial_indent=margin,
            subsequent_indent=margin + hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += broken if len(margin + body) > WIDTH else [margin + body]
    return lines


def show(lines: Iterable[Line], stream: TextIO) -> None:
    """Write the lines, with colors and clickable paths if `stream` is a terminal that has them."""
    if not stream.isatty() and not os.environ.get("FORCE_COLOR"):
        return _show_plain(lines, stream)
    try:
        from rich.console import Console
    except ImportError:
        return _show_plain(lines, stream)
    console = Console(file=stream, highlight=False)
    for spans in lines:
        console.print(styled(spans, stream), soft_wrap=True)


def styled(spans: Line, stream: TextIO) -> Any:
    """A line as rich's `Text`."""
    from rich.text import Text

    text = Text()
    for span in spans:
        link = f" link {span.link}" if span.link else ""
        text.append(encodable(span.text, stream), style=(span.style + link).strip())
    return text


def _show_plain(lines: Iterable[Line], stream: TextIO) -> None:
    for spans in lines:
        text = "".join(span.text for span in spans).rstrip()
        stream.write(encodable(text, stream) + "\n")
    stream.flush()


def encodable(text: str, stream: TextIO) -> str:
    """The text, in ASCII where the stream's encoding lacks our marks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
    return text
