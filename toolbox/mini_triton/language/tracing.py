"""Running a kernel's Python code once, to record the operations that it builds. (Given.)

Tracing turns a kernel into IR without a compiler: call the kernel, and every operator and every function of the
language builds an operation. This suffices for straight-line code. However, Python itself would run an `if` or a loop
during tracing. Therefore milestone 5 reads the source instead.

    def double(out, x, BLOCK):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at) * 2)

    print(print_module(trace(double, {"out": "*fp32", "x": "*fp32"}, BLOCK=64)))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Module
from mini_triton.ir.scopes import function
from mini_triton.language.context import building
from mini_triton.language.signature import inputs_of, parse_type, receive


def trace(kernel: Callable[..., Any], signature: Mapping[str, str], **constants: Any) -> Module:
    """A module with one function, which has the kernel's name and an argument for each entry of `signature`.

    `constants` are passed to the kernel unchanged.
    """
    module, builder = Module(), Builder()
    types = {name: parse_type(spelling) for name, spelling in signature.items()}
    inputs = {name: type.ir_type for name, type in inputs_of(types).items()}
    with function(builder, module, kernel.__name__, inputs) as traced, building(builder):
        kernel(**receive(types, traced.arguments), **constants)
    return module
