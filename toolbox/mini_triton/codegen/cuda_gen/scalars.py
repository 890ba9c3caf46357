"""Scalars on a GPU: the expressions of elementwise operations. Most are the same as on a CPU."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mini_triton.codegen.numba_gen import scalars
from mini_triton.codegen.numba_gen.scalars import kind, memory_dtype, narrow
from mini_triton.ir.core import Operation
from mini_triton.ir.types import Type, element_type

OF_UNSIGNED = {
    "arith.divui": "{k}(divui({u}({0}), {u}({1})))",
    "arith.remui": "{k}(remui({u}({0}), {u}({1})))",
    "arith.maxui": "{0} if {u}({0}) > {u}({1}) else {1}",
    "arith.minui": "{0} if {u}({0}) < {u}({1}) else {1}",
    "arith.shli": "{k}({u}({0}) << {u}({1})) if {u}({1}) < {width} else {k}(0)",
    "arith.shrui": "{k}({u}({0}) >> {u}({1})) if {u}({1}) < {width} else {k}(0)",
    "arith.shrsi": "{k}({0} >> {k}(min({u}({1}), {last})))",
}
"""Operations on the bits of integers. `{k}` is their type, `{u}` the unsigned type of the same width."""
RENAMED = {"abs": "absolute", "arccos": "acos"}


def elementwise(operation: Operation, texts: Sequence[str]) -> str:
    """The expression of an elementwise operation."""
    name, result = operation.name, operation.result.type
    form = kind(operation.operands[0].type)
    if name in OF_UNSIGNED and form != "bool_":
        width = element_type(result).width
        return OF_UNSIGNED[name].format(*texts, k=form, u=f"u{form}", width=width, last=width - 1)
    if name == "arith.select":
        return f"select({', '.join(texts)})"
    if name == "arith.divf" and form == "float32" and not narrow(result):
        return f"quotient({texts[0]}, {texts[1]})"
    if name == "tt.mulhiui":
        if form == "int32":
            return f"int32(uint64(uint32({texts[0]})) * uint64(uint32({texts[1]})) >> uint64(32))"
        return f"int64(mulhi_64({texts[0]}, {texts[1]}))"
    if name in ("arith.fptosi", "arith.fptoui") and kind(result) != "bool_":
        target = kind(result)
        if name == "arith.fptosi":
            return f"int8(int16({texts[0]}))" if target == "int8" else f"{target}({texts[0]})"
        return f"{target}({'uint16' if target == 'int8' else f'u{target}'}({texts[0]}))"
    text = scalars.elementwise(operation, texts)
    text = re.sub(r"exact\.unsigned\(", "uint8(" if form == "bool_" else f"u{form}(", text)
    text = re.sub(r"\b(?:exact|np)\.([a-z]\w*)\(", lambda match: f"{RENAMED.get(match[1], match[1])}(", text)
    if name == "tt.bitcast":
        text = re.sub(r"\b(bits_of|float_of)\(", rf"\1_{kind(result)[-2:]}(", text)
    return text


def kept_as(type: Type) -> str:
    """The dtype of elements in memory: "int8" for booleans."""
    return memory_dtype(type).replace("bool", "int8")


def loaded(type: Type, text: str) -> str:
    """The source that converts an element of memory to its variable's dtype."""
    return f"{text} != 0" if kind(type) == "bool_" else scalars.loaded(type, text)


def stored(type: Type, text: str) -> str:
    """The source that converts a number to its dtype in memory."""
    return f"int8({text})" if kind(type) == "bool_" else scalars.stored(type, text)
