"""Operations that become one Python expression: each element of the result depends on the same element of the operands.

Which expression that is, the table in `ir/ops/elementwise.py` says.
"""

from __future__ import annotations

import numpy as np

from mini_triton.formats import FLOATS, INTEGERS
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.elementwise import meaning
from mini_triton.ir.types import PointerType, Type, element_type

DTYPES = {
    **{name: f"np.{row.array}" if row.native else row.array for name, row in (INTEGERS | FLOATS).items()},
    "i1": "np.bool_",
}


def dtype_of(type: Type) -> str:
    """The name of the NumPy dtype for one element: pointers are offsets, so `np.int64`. (Given.)"""
    element = element_type(type)
    if isinstance(element, PointerType):
        return "np.int64"
    return DTYPES[str(element)]


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
