"""Triton's ahead-of-time compiler and linker. They give names and interfaces in C, and compile no machine code.

ahead.compile(TEXT, "add", "*fp32:16, i32, 1024").name    # "add_d9384e65_0d"
ahead.link({"add.h": "// tt-linker: …"}, "add").source    # the C source of the dispatcher
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.oracles.triton import PARSE_SECONDS, _ask, version


@dataclass(frozen=True)
class Header:
    """A kernel compiled by Triton."""

    name: str  # the name of the C function
    file: str  # the name of the header's file
    text: str  # the text of the header


@dataclass(frozen=True)
class Linked:
    """The files that Triton's linker wrote."""

    source: str
    header: str


def compile(text: str, kernel: str, signature: str, **options: Any) -> Header:
    """The header for a kernel in a Python text. Options, such as `num_warps`, are those of Triton's command line."""
    arguments = {"kernel_name": kernel, "signature": signature, "grid": "1, 1, 1", **options}
    answer = _answer({"do": "ahead.compile", "text": text, "arguments": arguments})
    return Header(answer["name"], answer["file"], answer["header"])


def link(headers: Mapping[str, str], name: str) -> Linked:
    """The dispatcher for headers, which are texts by the names of their files."""
    answer = _answer({"do": "ahead.link", "headers": dict(headers), "name": name})
    return Linked(answer["source"], answer["header"])


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    (answer,) = _ask("frontend", [request], PARSE_SECONDS)
    assert answer["ok"], f"real Triton {version()} refused: {answer['diagnostic']}"
    return answer
