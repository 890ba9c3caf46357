"""Operations that become one Python expression: each element of the result depends on the same element of the operands.

Which expression that is, the table in `ir/ops/elementwise.py` says.
"""

from __future__ import annotations

import numpy as np

from mini_triton.ir.core import Operation
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.types import PointerType, Type, element_type

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


def expression(operation: Operation, operands: list[str]) -> str | None:
    """The expression for an elementwise operation, or None if it is no such operation.

    `operands` are the texts of the operands: names, or expressions in parentheses.
    """
    # Task 6.1: Fill in the operation's `meaning`: it has gaps for the operands, `{dtype}` and attributes. Look at
    # `Row` in `ir/ops/elementwise.py`. `tt.fp_to_fp` has no `rounding` where nothing is rounded: "".
    raise NotImplementedError("Task 6.1: Straight-line code")
