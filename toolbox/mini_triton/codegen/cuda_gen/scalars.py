"""Scalars on a GPU: the expressions of elementwise operations. Most are the same as on a CPU."""

from __future__ import annotations

from collections.abc import Sequence

from mini_triton.codegen.numba_gen import scalars
from mini_triton.codegen.numba_gen.expressions import Expression, apply, apply_formula, renamed
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
UPPER_HALF = {
    "int32": "int32(uint64(uint32({0})) * uint64(uint32({1})) >> uint64(32))",
    "int64": "int64(mulhi_64({0}, {1}))",
}
RENAMED = {"abs": "absolute", "arccos": "acos"}


def elementwise(operation: Operation, operands: Sequence[Expression]) -> Expression:
    """The expression of an elementwise operation."""
    name, result = operation.name, operation.result.type
    form = kind(operation.operands[0].type)
    if name in OF_UNSIGNED and form != "bool_":
        width = element_type(result).width
        formula = OF_UNSIGNED[name].format("{0}", "{1}", k=form, u=f"u{form}", width=width, last=width - 1)
        return apply_formula(formula, operands)
    if name == "tt.mulhiui":
        return apply_formula(UPPER_HALF[form], operands)
    if name == "arith.select":
        return apply("select", *operands)
    if name == "arith.divf" and form == "float32" and not narrow(result):
        return apply("quotient", *operands)
    if name in ("arith.fptosi", "arith.fptoui") and kind(result) != "bool_":
        target, sign = kind(result), "" if name == "arith.fptosi" else "u"
        wide = target.replace("int8", "int16")
        return apply(target, apply(f"{sign}{wide}", *operands) if sign + wide != target else operands[0])

    def rename(function: str) -> str:
        if function == "exact.unsigned":
            return "uint8" if form == "bool_" else f"u{form}"
        if function in ("bits_of", "float_of") and name == "tt.bitcast":
            return f"{function}_{kind(result)[-2:]}"
        module, _, last = function.rpartition(".")
        return RENAMED.get(last, last) if module in ("exact", "np") else function

    return renamed(scalars.elementwise(operation, operands), rename, operands)


def kept_as(type: Type) -> str:
    """The dtype of elements in memory: "int8" for booleans."""
    return memory_dtype(type).replace("bool", "int8")


def loaded(type: Type, element: Expression) -> Expression:
    """An element of memory, converted to its variable's dtype."""
    return apply("!=", element, 0) if kind(type) == "bool_" else scalars.loaded(type, element)


def stored(type: Type, value: Expression) -> Expression:
    """A number, converted to its dtype in memory."""
    return apply("int8", value) if kind(type) == "bool_" else scalars.stored(type, value)
