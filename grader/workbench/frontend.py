"""For chapter 5: a kernel compiled by the front end."""

from __future__ import annotations

from typing import Any

from grader.workbench import module_of


def show(body: str, before: str = "", **arguments: Any) -> None:
    """Print the operations of a kernel with this body, or the error. `before` is the text above the kernel.

    An argument that is a string is a type, any other a constant: `show("tl.store(x, N)", x="*i32", N=4)`.
    """
    from mini_triton.errors import CompilationError
    from mini_triton.ir.printer import print_module

    try:
        text = print_module(module_of(body, arguments, "kernel.py", before))
        print("\n".join(line[4:] for line in text.splitlines()[2:-3]))
    except CompilationError as error:
        print(error)
