"""Small tools for trying things, which the chapters' examples import: one module for each kind of example."""

from __future__ import annotations

import linecache
from typing import Any


def execute(text: str, file: str) -> dict[str, Any]:
    """The names that a text defines, as if it were a file: kernels are compiled from their source."""
    import mini_triton
    import mini_triton.language

    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # where inspect finds sources
    names = {"triton": mini_triton, "tl": mini_triton.language, "__name__": file.removesuffix(".py")}
    exec(compile(text, file, "exec"), names)
    return names


def module_of(body: str, arguments: dict[str, Any], file: str, before: str = "") -> Any:
    """The module that the front end makes of a kernel with this body.

    An argument that is a string is a type, such as "*fp32"; any other is a compile-time constant.
    """
    from mini_triton.frontend.compiler import ast_to_ttir
    from mini_triton.frontend.function import KernelSource

    lines = ["# a kernel", f"def kernel({', '.join(arguments)}):", *(f"    {line}" for line in body.splitlines())]
    kernel = KernelSource(execute(before + "\n".join(lines) + "\n", file)["kernel"])
    types = {name: value if isinstance(value, str) else "constexpr" for name, value in arguments.items()}
    constants = {name: value for name, value in arguments.items() if not isinstance(value, str)}
    return ast_to_ttir(kernel, types, constants)


def new_file() -> str:
    """A file name that no kernel has yet."""
    return f"kernel_{len(linecache.cache)}.py"
