"""Python's own parser, for one thread at a time.

Milestones and wrong solutions are graded in threads. In Python 3.11, `ast.parse` fails now and then while another
thread parses.

Source: https://github.com/python/cpython/issues/106905
"""

from __future__ import annotations

import ast
import threading

_ALONE = threading.Lock()


def parse(source: str | bytes) -> ast.Module:
    """The syntax tree of a source text. Raises `SyntaxError`, and `ValueError` for null bytes."""
    with _ALONE:
        return ast.parse(source)
