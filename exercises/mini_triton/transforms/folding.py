"""Constant folding: an operation on constants becomes a constant.

What an operation means stands in one table, the interpreter's: `evaluate(operation, operands)` of `ir/interpreter.py`.
A constant is one number, in every element of its type. So an elementwise operation is evaluated once, on scalars, and
what only moves elements around makes the same constant in another shape.

Source: MLIR's `OperationFolder`; `fold` in its `ArithOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.interpreter import evaluate
from mini_triton.ir.ops.elementwise import TABLE
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import FloatType, PointerType, Type, element_type, shape_of
from mini_triton.transforms.effects import COMBINING
from mini_triton.transforms.rewriting import Number, Rewriter, Rule, constant_of

MOVING = (
    *("tt.splat", "tt.unsplat", "tt.broadcast", "tt.reshape", "tt.expand_dims", "tt.trans"),
    *("tt.join", "tt.split", "tt.cat"),
)
"""Operations whose results have the elements of their operands, and no others."""


def fold_elementwise(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The constant that an elementwise operation on constants gives; None if an operand is not a constant.

    None also for a result that is a pointer, as constants cannot be, and for NaN: a constant would lose its bits.
    """
    # Task 9.2: `evaluate` takes and gives NumPy scalars. It must not warn of what overflows.
    raise NotImplementedError("Task 9.2: Constant folding")


def fold_moving(rewriter: Rewriter, operation: Operation) -> Sequence[Value] | None:
    """A constant for each result of an operation whose operands are all the same constant; None if they are not.

    The operation moves elements, and all elements are this constant. 0.0 and -0.0 are two constants.
    """
    # Task 9.2: An operation has one or two operands here, and `tt.split` has two results.
    raise NotImplementedError("Task 9.2: Constant folding")


def fold_range(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A range of one element is a constant. (Given.)"""
    start: Any = operation.attributes["start"]
    return rewriter.constant(start, operation.result.type) if shape_of(operation.result.type) == (1,) else None


def raise_constant(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The same constant at the beginning of the function, where it is visible everywhere; None if it is there.

    Constants inside of a reduction's region stay: the region is a function of its own in a back end.
    """
    # Task 9.2: `parent_op` leads outwards, to the `tt.func`.
    raise NotImplementedError("Task 9.2: Constant folding")


def is_pointer(type: Type) -> bool:
    """Whether the elements are pointers, of which there are no constants. (Given.)"""
    return isinstance(element_type(type), PointerType)


def scalar_of(value: Value) -> np.generic | None:
    """A constant as a NumPy scalar of its type; None if a value is not a constant. (Given.)"""
    number = constant_of(value)
    return None if number is None else numpy_dtype(value.type).type(number)


def as_number(scalar: np.generic, type: Type) -> Number:
    """A NumPy scalar as the number that a constant of this type holds. (Given.)"""
    return float(scalar) if isinstance(element_type(type), FloatType) else scalar.item()


FOLDED = tuple(name for name in TABLE if name != "tt.extern_elementwise")
"""Elementwise operations whose meaning is the same everywhere: a device's own library is not there when we compile."""
CONSTANT = frozenset(["arith.constant"])
FOLDING = (
    Rule("fold elementwise operations", FOLDED, fold_elementwise, CONSTANT),
    Rule("fold operations that move elements", MOVING, fold_moving, CONSTANT),
    Rule("fold ranges", ("tt.make_range",), fold_range),
    Rule("raise constants", ("arith.constant",), raise_constant),
)
