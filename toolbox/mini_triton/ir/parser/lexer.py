"""TTIR text as tokens, and a cursor over them. (Given.)

A whole type, such as `tensor<8x!tt.ptr<f32>>`, is one token, because the `8x` in it is neither a number nor a word.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from mini_triton.errors import CompilationError, Loc

T = TypeVar("T")

_INSIDE = r'[\w!?.,#*" ]*'
_ANGLES = f"<{_INSIDE}(?:<{_INSIDE}(?:<{_INSIDE}>{_INSIDE})*>{_INSIDE})*>"
_WORD = r"[A-Za-z_][\w$.]*"
_STRING = r'"(?:[^"\\\n]|\\[^\n])*"'

_TOKEN = re.compile(
    rf"""(?:\s|//[^\n]*)*+
    (?: (?P<type>tensor{_ANGLES} | !{_WORD}(?:{_ANGLES})?)
      | (?P<value>%[\w$.-]+(?:\#[0-9]{{1,6}})?)
      | (?P<word>{_WORD})
      | (?P<number>0x[0-9A-Fa-f]+ | [0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?)?)
      | (?P<string>{_STRING})
      | (?P<symbol>@(?:{_WORD}|{_STRING}))
      | (?P<label>\^[\w$.-]+)
      | (?P<alias>\#{_WORD})
      | (?P<mark>->|[()\[\]{{}}<>=,:*?+|/-])
      | (?P<end>\Z)
      | (?P<unknown>.)
    )""",
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    """One token: its kind, its text, and its start."""

    kind: str  # a group of `_TOKEN`
    text: str
    start: int


class Cursor:
    """Iterates over the tokens of a text; `token` is the next token."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._tokens = []
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or "unknown"
            self._tokens.append(Token(kind, match[kind], match.start(kind)))
        self._position = 0
        self.token = self._tokens[0]

    def advance(self) -> Token:
        """Consume the next token, except the one that marks the end."""
        token = self.token
        if token.kind != "end":
            self._position += 1
            self.token = self._tokens[self._position]
        return token

    def at(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.token.text == text

    def accept(self, text: str) -> bool:
        """Consume `text` if it comes next."""
        if self.token.text != text:
            return False
        self.advance()
        return True

    def expect(self, text: str) -> Token:
        """Consume `text`, which must come next."""
        if self.token.text != text:
            raise self.unexpected(text)
        return self.advance()

    def expect_kind(self, kind: str, what: str) -> Token:
        """Consume a token of this kind, which must come next; `what` describes it in the error message."""
        if self.token.kind != kind:
            raise self.unexpected(what)
        return self.advance()

    def separated(self, read: Callable[[], T], begin: str, end: str) -> list[T]:
        """The items between `begin` and `end`, separated by commas, each parsed by `read`."""
        self.expect(begin)
        found: list[T] = []
        while not self.accept(end):
            if found:
                self.expect(",")
            found.append(read())
        return found

    def loc(self, token: Token) -> Loc:
        """The location of a token in the text."""
        line = self.text.count("\n", 0, token.start) + 1
        return Loc(self.file, line, token.start - (self.text.rfind("\n", 0, token.start) + 1))

    def unexpected(self, what: str) -> CompilationError:
        """The error for a next token that is not `what`."""
        found = "the end of the text" if self.token.kind == "end" else self.token.text
        return self.error(f"expected {what}, found {found}")

    def error(
        self, message: str, token: Token | None = None, kind: type[CompilationError] = CompilationError
    ) -> CompilationError:
        """An error at a token, by default the next one."""
        # An error takes its excerpt from this cache, and the text need not be in a file.
        linecache.cache[self.file] = (len(self.text), None, self.text.splitlines(keepends=True), self.file)
        return kind(message, self.loc(token or self.token))
