"""`tl.inline_asm_elementwise`: a kernel's own PTX."""

from __future__ import annotations

from mini_triton.backends.threads.instructions import Register, Unsupported, kind_of
from mini_triton.backends.threads.layouts import SCALAR, Layout
from mini_triton.backends.threads.threads import PLACED, Threads, rule
from mini_triton.ir.core import Operation
from mini_triton.ir.types import TensorType

KINDS = {"r": "b32", "f": "b32", "h": "b16", "l": "b64", "d": "b64", "b": "pred"}
"""The kind of a register, by the letter of LLVM's constraint."""


@rule(PLACED, "tt.elementwise_inline_asm")
def inline(threads: Threads, operation: Operation, result: int, layout: Layout, number: int) -> Register:
    """An element of a result. All results of one element come from one copy of the text."""
    texts = str(operation.attributes["constraints"]).replace(" ", "").split(",")
    wanted = [KINDS.get(text.lstrip("=&")) for text in texts if not text.startswith("~")]
    kinds = [kind_of(value.type) for value in (*operation.results, *operation.operands)]
    if operation.attributes["packed_element"] != 1 or not operation.attributes["pure"] or wanted != kinds:
        raise Unsupported(operation, "unless it is pure, takes single elements, and registers have the types' sizes")
    operands = [
        threads.register(operand, layout if isinstance(operand.type, TensorType) else SCALAR, number)
        for operand in operation.operands
    ]
    results = [threads.new(kind_of(value.type)) for value in operation.results]
    threads.do("asm", str(operation.attributes["asm_string"]), *operands, results=results)
    for value, register in zip(operation.results, results, strict=True):
        threads.registers.setdefault((value, layout), {})[number] = register
    return results[result]
