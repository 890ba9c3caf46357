"""For chapter 4: the operations that an expression builds."""

from __future__ import annotations

from typing import Any


def show(expression: str, **arguments: str) -> None:
    """Print the type of an expression, if it has a result, and its operations.

    The arguments are types: `show("x * 2", x="fp16")`.
    """
    import mini_triton.language as tl
    from mini_triton.ir.printer import print_module
    from mini_triton.language.tracing import trace

    def kernel(**values: Any) -> None:
        result = eval(expression, {"tl": tl, **values})
        if result is not None:
            print(result.type)

    text = print_module(trace(kernel, arguments))
    print("\n".join(line.strip() for line in text.splitlines()[2:-3]))
