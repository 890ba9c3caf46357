"""Kernels written for Triton, as Python text, loaded for mini_triton: only their imports are changed.

namespace = load(text)
module = compiled(Source(text, "add", {"x": "*fp32", "n": "i32"}))
"""

from __future__ import annotations

import itertools
import linecache
import re
from typing import Any

from tests.oracles.triton import Code, Source

_IMPORT = re.compile(r"^(\s*)(import|from) triton\b([\w.]*)(.*)$", re.MULTILINE)
_numbers = itertools.count(1)


def translated(text: str) -> str:
    """The text with imports from mini_triton instead of Triton. No line moves."""
    return _IMPORT.sub(_translated_import, text)


def load(text: str, file: str | None = None) -> dict[str, Any]:
    """The names that the text defines when it imports mini_triton. Errors name `file`, by default a made-up file."""
    file = file or f"kernel_{next(_numbers)}.py"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # where inspect finds sources
    # `compile` takes over this module's `from __future__`: annotations stay texts, as in files that have this import.
    namespace: dict[str, Any] = {"__name__": "kernels", "__file__": file}
    exec(compile(translated(text), file, "exec"), namespace)
    return namespace


def compiled(source: Source, file: str | None = None) -> Any:
    """The module that our front end makes of a kernel."""
    from mini_triton.frontend.compiler import ast_to_ttir

    namespace = load(source.text, file)
    constexprs = {name: constant(value, namespace) for name, value in source.constexprs.items()}
    return ast_to_ttir(
        namespace[source.kernel],
        signature=dict(source.signature),
        constexprs=constexprs,
        divisible=tuple(source.divisible),
    )


def constant(value: Any, namespace: dict[str, Any]) -> Any:
    """A constant of a source; `Code` is evaluated in the text's namespace."""
    if isinstance(value, Code):
        return eval(value, namespace)
    return tuple(constant(item, namespace) for item in value) if isinstance(value, tuple) else value


def _translated_import(line: re.Match[str]) -> str:
    indent, word, path, rest = line.groups()
    if word == "import" and not path and not rest.strip().startswith("as "):
        return f"{indent}import mini_triton as triton{rest}"
    return f"{indent}{word} mini_triton{path}{rest}"
