"""Operations that become one Python expression: each element of the result depends on the same element of the operands.

What NumPy does not do as the IR means it is a function of `library/exact`.
"""

from __future__ import annotations

import functools

import numpy as np
from mini_triton.ir.core import Operation
from mini_triton.ir.types import I1, PointerType, Type, element_type

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
    """The name of the NumPy dtype for one element: pointers are offsets, so `np.int64`. (Given.)"""
    element = element_type(type)
    if isinstance(element, PointerType):
        return "np.int64"
    return DTYPES.get(str(element)) or f"np.int{element.width}"


def numpy_dtype(type: Type) -> np.dtype:
    """NumPy's dtype for one element. Those of `ml_dtypes` have names, too."""
    return np.dtype(dtype_of(type).removeprefix("np.").rstrip("_"))


TEMPLATES = {
    # Integers wrap around.
    "arith.addi": "{0} + {1}",
    "arith.subi": "{0} - {1}",
    "arith.muli": "{0} * {1}",
    "arith.divsi": "exact.divsi({0}, {1})",
    "arith.divui": "exact.divui({0}, {1})",
    "arith.remsi": "exact.remsi({0}, {1})",
    "arith.remui": "exact.remui({0}, {1})",
    "arith.floordivsi": "{0} // {1}",
    "arith.ceildivsi": "exact.ceildivsi({0}, {1})",
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
    "tt.mulhiui": "exact.mulhiui({0}, {1})",
    "math.absi": "np.abs({0})",
    # Floats are rounded to nearest even.
    "arith.addf": "{0} + {1}",
    "arith.subf": "{0} - {1}",
    "arith.mulf": "{0} * {1}",
    "arith.divf": "{0} / {1}",
    "tt.precise_divf": "{0} / {1}",
    "arith.remf": "np.fmod({0}, {1})",
    "arith.negf": "-{0}",
    "arith.maximumf": "exact.maximumf({0}, {1})",
    "arith.minimumf": "exact.minimumf({0}, {1})",
    "arith.maxnumf": "exact.maxnumf({0}, {1})",
    "arith.minnumf": "exact.minnumf({0}, {1})",
    "tt.clampf": "exact.clampf({0}, {1}, {2}, {propagateNan!r})",
    "math.fma": "exact.fma({0}, {1}, {2})",
    **{f"math.{name}": f"np.{name}({{0}})" for name in "exp log log2 sin cos sqrt floor ceil".split()},
    "math.exp2": "exact.exp2({0})",
    "tt.precise_sqrt": "np.sqrt({0})",
    "math.rsqrt": "np.reciprocal(np.sqrt({0}))",
    "math.absf": "np.abs({0})",
    "math.erf": "exact.erf({0})",
    # Comparisons by their predicates. Those of NaN are false in Python, but for `!=`.
    "arith.cmpi eq": "{0} == {1}",
    "arith.cmpi ne": "{0} != {1}",
    "arith.cmpi slt": "{0} < {1}",
    "arith.cmpi sle": "{0} <= {1}",
    "arith.cmpi sgt": "{0} > {1}",
    "arith.cmpi sge": "{0} >= {1}",
    "arith.cmpi ult": "exact.unsigned({0}) < exact.unsigned({1})",
    "arith.cmpi ule": "exact.unsigned({0}) <= exact.unsigned({1})",
    "arith.cmpi ugt": "exact.unsigned({0}) > exact.unsigned({1})",
    "arith.cmpi uge": "exact.unsigned({0}) >= exact.unsigned({1})",
    "arith.cmpf oeq": "{0} == {1}",
    "arith.cmpf ogt": "{0} > {1}",
    "arith.cmpf oge": "{0} >= {1}",
    "arith.cmpf olt": "{0} < {1}",
    "arith.cmpf ole": "{0} <= {1}",
    "arith.cmpf one": "({0} < {1}) | ({0} > {1})",
    "arith.cmpf ord": "({0} <= {1}) | ({0} >= {1})",
    "arith.cmpf false": "({0} < {1}) & ({0} > {1})",
    "arith.cmpf une": "{0} != {1}",
    "arith.cmpf ult": "~({0} >= {1})",
    "arith.cmpf ule": "~({0} > {1})",
    "arith.cmpf ugt": "~({0} <= {1})",
    "arith.cmpf uge": "~({0} < {1})",
    "arith.cmpf ueq": "~(({0} < {1}) | ({0} > {1}))",
    "arith.cmpf uno": "~(({0} <= {1}) | ({0} >= {1}))",
    "arith.cmpf true": "~(({0} < {1}) & ({0} > {1}))",
    # Casts.
    "arith.extf": "{0}.astype({dtype})",
    "arith.truncf": "exact.truncf({0}, {dtype})",
    "tt.fp_to_fp": "exact.fp_to_fp({0}, {dtype}, {rounding!r})",
    "arith.extsi": "{0}.astype({dtype})",
    "arith.extui": "exact.unsigned({0}).astype({dtype})",
    "arith.trunci": "{0}.astype({dtype})",
    "arith.sitofp": "exact.sitofp({0}, {dtype})",
    "arith.uitofp": "exact.uitofp({0}, {dtype})",
    "arith.fptosi": "exact.fptosi({0}, {dtype})",
    "arith.fptoui": "exact.fptoui({0}, {dtype})",
    "arith.bitcast": "{0}",
    "tt.bitcast": "np.asarray({0}).view({dtype})",
    # Functions of a device library.
    "tt.extern_elementwise": "exact.extern({symbol!r}, {operands})",
}
"""Expressions by the names of operations; that of a comparison has its predicate behind it. (Given.)

`{0}`, `{1}`, ... stand for the operands, `{operands}` for all of them, `{dtype}` for the NumPy dtype of the result's
elements, all other names for attributes: `{symbol}`.
"""

OF_BOOLEANS = {
    "arith.addi": "{0} ^ {1}",
    "arith.subi": "{0} ^ {1}",
    "arith.muli": "{0} & {1}",
    **dict.fromkeys(("arith.divsi", "arith.divui", "arith.floordivsi", "arith.ceildivsi"), "{0} & {1}"),
    **dict.fromkeys(("arith.remsi", "arith.remui", "arith.shli", "arith.shrui"), "{0} & ~{1}"),
    "arith.shrsi": "{0} | ({0} & {1})",
    **dict.fromkeys(("arith.maxsi", "arith.minui"), "{0} & {1}"),
    **dict.fromkeys(("arith.minsi", "arith.maxui"), "{0} | {1}"),
    "math.absi": "{0}",
    "arith.cmpi slt": "{0} > {1}",
    "arith.cmpi sle": "{0} >= {1}",
    "arith.cmpi sgt": "{0} < {1}",
    "arith.cmpi sge": "{0} <= {1}",
    "arith.extsi": "-{0}.astype({dtype})",
    "arith.sitofp": "-{0}.astype({dtype}) + {dtype}(0)",
    "arith.uitofp": "{0}.astype({dtype})",
}
"""Where they differ if operands are booleans: integers of one bit, which is their sign, so that true is -1. (Given.)"""

TO_BOOLEANS = {
    "arith.trunci": "{0} & 1 != 0",
    "arith.fptosi": "{0} <= -1",
    "arith.fptoui": "{0} >= 1",
}
"""Where they differ if a boolean results. (Given.)"""


def expression(operation: Operation, operands: list[str]) -> str | None:
    """The expression for an elementwise operation, or None if it is no such operation.

    `operands` are the texts of the operands: names, or expressions in parentheses.
    """
    name = " ".join(filter(None, (operation.name, operation.attributes.get("predicate"))))
    if TEMPLATES.get(name) is None:
        return None
    first, result = (element_type(value.type) for value in (operation.operands[0], operation.results[0]))
    special = OF_BOOLEANS if first == I1 else TO_BOOLEANS if result == I1 else {}
    template = special.get(name) or TEMPLATES[name]
    return functools.partial(template.format, *operands)(
        **({"rounding": ""} | operation.attributes | {"dtype": dtype_of(operation.results[0].type)}),
        operands=", ".join(operands),
    )
