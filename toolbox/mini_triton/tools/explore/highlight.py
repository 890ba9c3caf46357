"""Colors: Pygments finds the tokens when the page is made, and the page's style sheet colors each kind of token."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from html import escape

from pygments.lexer import Lexer, RegexLexer, inherit
from pygments.lexers.asm import LlvmLexer
from pygments.lexers.ptx import PtxLexer
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text, _TokenType

CLASSES = {
    **{Comment: "c", Keyword: "k", Number: "m", String: "s"},
    **{Name.Builtin: "b", Name.Function: "f", Name.Variable: "v"},
}
"""The page's classes for kinds of tokens. Other kinds are not colored."""


class MlirLexer(RegexLexer):
    """MLIR, the syntax of TTIR and TTGIR."""

    tokens = {
        "root": [
            (r"//.*", Comment),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"[%^][\w$.]+(?:#\d+)?", Name.Variable),
            (r"[#!][A-Za-z_][\w.]*", Name.Builtin),
            (r"@[\w$.]+", Name.Function),
            (r"\b[a-z]+(?:\.[a-z_0-9]+)+\b", Keyword),
            (r"\b(?:tensor|vector|memdesc|index|[su]?i\d+|b?f\d+\w*)\b", Name.Builtin),
            (r"\b0x[0-9A-Fa-f]+\b|\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", Number),
            (r"x(?=[fi]\d|bf|[!?\d])", Text),
            (r"\w+", Text),
            (r"\s+|.", Text),
        ]
    }


class LlirLexer(LlvmLexer):
    """LLVM's IR, in which a struct of 128 floats is one word."""

    tokens = {"root": [(r"\{ \w+(?:, \w+)* \}", Keyword.Type), inherit]}


class SassLexer(RegexLexer):
    """Disassembled NVIDIA machine code: an address, and an instruction."""

    tokens = {
        "root": [
            (r"^[0-9a-f]{4,}(?=  )", Comment),
            (r"^\.L_\w+:", Name.Function),
            (r"@!?U?P\w+", Operator),
            (r"(?<=  )[A-Z][A-Z0-9]*(?:\.\w+)*", Keyword),
            (r"(?<=P\d )[A-Z][A-Z0-9]*(?:\.\w+)*", Keyword),
            (r"\bU?[RPB]\d+\b|\bU?[RP][ZT]\b|\bSR_[\w.]+", Name.Variable),
            (r"-?0x[0-9a-f]+|\b\d[\w.+-]*", Number),
            (r"\s+|\w+|.", Text),
        ]
    }


LEXERS: dict[str, type[Lexer]] = {
    "py": PythonLexer,
    "ttir": MlirLexer,
    "ttgir": MlirLexer,
    "llir": LlirLexer,
    "ptx": PtxLexer,
    "sass": SassLexer,
}
"""By the suffix of a stage's file."""


def highlight(suffix: str, lines: Sequence[str]) -> list[str]:
    """The lines as HTML."""
    if suffix not in LEXERS:
        return [escape(line, quote=False) for line in lines]
    result = [""]
    for kind, text in LEXERS[suffix](stripnl=False, ensurenl=False).get_tokens("\n".join(lines)):
        name = class_of(kind)
        first, *others = escape(text, quote=False).split("\n")
        for number, part in enumerate((first, *others)):
            if number:
                result.append("")
            result[-1] += f"<i class={name}>{part}</i>" if name and part.strip() else part
    return result[: len(lines)]


@functools.cache
def class_of(kind: _TokenType) -> str:
    """The class of a kind of token, or of its nearest ancestor with a class."""
    while kind:
        if kind in CLASSES:
            return CLASSES[kind]
        kind = kind.parent
    return ""
