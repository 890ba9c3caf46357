"""Running a kernel's Python code once to see what it builds. (Given.)

This is how a kernel becomes IR without a compiler: call it, and every operator and every function of the language
leaves an operation behind. It is enough for straight-line code. An `if` or a loop would be run by Python, now, once and
for all; that is why milestone 5 reads the source instead.

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
    """The module with one function, named as the kernel, with an argument for each entry of `signature`.

    `constants` are passed to the kernel as they are.
    """
    module, builder = Module(), Builder()
    types = {name: parse_type(spelling) for name, spelling in signature.items()}
    inputs = {name: type.ir_type for name, type in inputs_of(types).items()}
    with function(builder, module, kernel.__name__, inputs) as traced, building(builder):
        kernel(**receive(types, traced.arguments), **constants)
    return module
