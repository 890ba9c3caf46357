"""Triton's ahead-of-time compiler and linker, asked for names and interfaces in C; no machine code is made.

ahead.compile(TEXT, "add", "*fp32:16, i32, 1024").name    # "add_d9384e65_0d"
ahead.link({"add.h": "// tt-linker: …"}, "add").source    # the C source of the dispatcher
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.oracles.triton import PARSE_SECONDS, _ask, version


@dataclass(frozen=True)
class Header:
    """A kernel compiled by Triton."""

    name: str  # of the C function
    file: str  # of the header
    text: str  # of the header


@dataclass(frozen=True)
class Linked:
    """The files that Triton's linker wrote."""

    source: str
    header: str


def compile(text: str, kernel: str, signature: str, **options: Any) -> Header:
    """The header for a kernel in a Python text. Options are those of Triton's command line: `num_warps`, `out_name`."""
    arguments = {"kernel_name": kernel, "signature": signature, "grid": "1, 1, 1", **options}
    answer = _answer({"do": "ahead.compile", "text": text, "arguments": arguments})
    return Header(answer["name"], answer["file"], answer["header"])


def link(headers: Mapping[str, str], name: str) -> Linked:
    """The dispatcher for headers, given by their files' names."""
    answer = _answer({"do": "ahead.link", "headers": dict(headers), "name": name})
    return Linked(answer["source"], answer["header"])


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    (answer,) = _ask("frontend", [request], PARSE_SECONDS)
    assert answer["ok"], f"real Triton {version()} refused: {answer['diagnostic']}"
    return answer
