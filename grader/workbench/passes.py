"""For chapter 9: modules before and after a pass."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from grader.workbench import module_of, new_file


def define(body: str, **types: str) -> Any:
    """The module that the front end makes of a kernel with this body."""
    return module_of(body, types, new_file())


def show(run: Callable[[Any], Any], lines: str) -> None:
    """Print the body of a function after a pass. It has a pointer %p, integers %a and %b, and a condition %c."""
    from mini_triton.ir.parser import parse_module
    from mini_triton.ir.printer import print_module

    head = "tt.func public @kernel(%p: !tt.ptr<i32>, %a: i32, %b: i32, %c: i1) {"
    module = parse_module("\n".join([head, lines, "tt.return", "}"]))
    run(module)
    print(textwrap.dedent("\n".join(print_module(module).splitlines()[2:-3])))
