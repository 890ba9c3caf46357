"""Operations that become one Python expression.

A template has `{0}`, `{1}`, ... for the operands; `{dtype}` for the NumPy dtype of the result's elements, and attributes
by their names. What NumPy does not do as the IR means it is a function of `library/exact.py`.
"""

from __future__ import annotations

from mini_triton.ir.core import Operation
from mini_triton.ir.types import FloatType, IntegerType, PointerType, Type, element_type

DTYPES = {
    "i1": "np.bool_",
    "f16": "np.float16",
    "bf16": "bfloat16",
    "f32": "np.float32",
    "f64": "np.float64",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FN": "float8_e4m3fn",
}


def dtype_of(type: Type) -> str:
    """The name of the NumPy dtype for one element: pointers are offsets, so `np.int64`."""
    element = element_type(type)
    if isinstance(element, PointerType):
        return "np.int64"
    return DTYPES.get(str(element)) or f"np.int{element.width}"


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

TEMPLATES = {
    "arith.addi": "{0} + {1}",
    "arith.subi": "{0} - {1}",
    "arith.muli": "{0} * {1}",
    "arith.divsi": "exact.divsi({0}, {1})",
    "arith.divui": "exact.divui({0}, {1})",
    "arith.remsi": "np.fmod({0}, {1})",
    "arith.remui": "exact.remui({0}, {1})",
    "arith.floordivsi": "{0} // {1}",
    "arith.ceildivsi": "-(-{0} // {1})",
    "arith.andi": "{0} & {1}",
    "arith.ori": "{0} | {1}",
    "arith.xori": "{0} ^ {1}",
    "arith.shli": "exact.shli({0}, {1})",
    "arith.shrsi": "exact.shrsi({0}, {1})",
    "arith.shrui": "exact.shrui({0}, {1})",
    "arith.maxsi": "np.maximum({0}, {1})",
    "arith.minsi": "np.minimum({0}, {1})",
    "arith.maxui": "exact.maxui({0}, {1})",
    "arith.minui": "exact.minui({0}, {1})",
    "arith.addf": "{0} + {1}",
    "arith.subf": "{0} - {1}",
    "arith.mulf": "{0} * {1}",
    "arith.divf": "{0} / {1}",
    "arith.remf": "np.fmod({0}, {1})",
    "arith.negf": "-{0}",
    "arith.maximumf": "np.maximum({0}, {1})",
    "arith.minimumf": "np.minimum({0}, {1})",
    "arith.maxnumf": "np.fmax({0}, {1})",
    "arith.minnumf": "np.fmin({0}, {1})",
    "arith.extf": "{0}.astype({dtype})",
    "arith.truncf": "{0}.astype({dtype})",
    "arith.extsi": "exact.extsi({0}, {dtype})",
    "arith.extui": "exact.extui({0}, {dtype})",
    "arith.trunci": "exact.trunci({0}, {dtype})",
    "arith.sitofp": "exact.extsi({0}, np.int64).astype({dtype})",
    "arith.uitofp": "exact.uitofp({0}, {dtype})",
    "arith.fptosi": "exact.fptosi({0}, {dtype})",
    "arith.fptoui": "exact.fptoui({0}, {dtype})",
    "arith.bitcast": "{0}",
    "tt.fp_to_fp": "exact.fp_to_fp({0}, {dtype}, {rounding!r})",
    "tt.bitcast": "exact.bitcast({0}, {dtype})",
    "tt.mulhiui": "exact.mulhiui({0}, {1})",
    "tt.precise_divf": "{0} / {1}",
    "tt.precise_sqrt": "np.sqrt({0})",
    "tt.clampf": "exact.clampf({0}, {1}, {2}, {propagateNan!r})",
    "math.exp": "np.exp({0})",
    "math.exp2": "np.exp2({0})",
    "math.log": "np.log({0})",
    "math.log2": "np.log2({0})",
    "math.sin": "np.sin({0})",
    "math.cos": "np.cos({0})",
    "math.sqrt": "np.sqrt({0})",
    "math.rsqrt": "exact.rsqrt({0})",
    "math.erf": "exact.erf({0})",
    "math.floor": "np.floor({0})",
    "math.ceil": "np.ceil({0})",
    "math.absf": "np.abs({0})",
    "math.absi": "np.abs({0})",
    "math.fma": "exact.fma({0}, {1}, {2})",
}


def expression(operation: Operation, operands: list[str]) -> str | None:
    """The expression for an elementwise operation, or None if it is no such operation."""
    if operation.name in ("arith.cmpi", "arith.cmpf"):
        return comparison(operation.attributes["predicate"], *operands)
    if operation.name == "tt.extern_elementwise":
        return f"exact.extern({operation.attributes['symbol']!r}, {', '.join(operands)})"
    template = TEMPLATES.get(operation.name)
    if template is None:
        return None
    attributes = {"rounding": "", **operation.attributes}
    return template.format(*operands, dtype=dtype_of(operation.result.type), **attributes)


def comparison(predicate: str, x: str, y: str) -> str:
    """`x < y` for `slt`; unsigned integers and unordered floats by way of `exact`."""
    kind, name = predicate[:-2], predicate[-2:]
    symbol = COMPARISONS.get(name)
    if kind in ("", "s", "o") and symbol and predicate != "one":
        return f"{x} {symbol} {y}" if predicate != "one" else ""
    if predicate == "une":
        return f"{x} != {y}"
    return f"exact.compare({predicate!r}, {x}, {y})"
