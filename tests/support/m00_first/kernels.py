"""Kernels that the slice compiles, as Python texts, with functions that load them and sources for real Triton."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.oracles.triton import Source

BLOCK = 16
HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
KERNELS = {
    "add": """\
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)
""",
    "scale": """\
def scale(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 1.5 - tl.load(x + at, at < n) * 0.1 * tl.load(y + at, at < n), at < n)
""",
    "reverse": """\
def reverse(x, y, out, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    at = first
    first = tl.arange(0, BLOCK)
    at = at + first
    inside = at < n
    out = out + at
    at = n - 1 - at
    tl.store(out, tl.load(x + at, mask=inside) - tl.load(y + at, mask=inside), mask=inside)
""",
}
_numbers = itertools.count(1)
_folder = tempfile.TemporaryDirectory()


@functools.cache
def function(text: str, name: str = "") -> Callable[..., Any]:
    """The function `name`, or else the first function, of a new file with this text. `tl` is None in the file."""
    file = Path(_folder.name, f"kernels_{next(_numbers)}.py")
    file.write_text(text, encoding="utf-8")
    # `compile` takes over this module's `from __future__`, so that nothing evaluates the annotation `tl.constexpr`.
    namespace: dict[str, Any] = {"__name__": "kernels", "tl": None}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name] if name else next(value for value in namespace.values() if hasattr(value, "__code__"))


def source(name: str) -> Source:
    """A kernel in the form that real Triton's front end takes."""
    signature = {**dict.fromkeys(("x", "y", "out"), "*fp32"), "n": "i32", "BLOCK": "constexpr"}
    return Source(HEAD + KERNELS[name], name, signature, {"BLOCK": BLOCK})
