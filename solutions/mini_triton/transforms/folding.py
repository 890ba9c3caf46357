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
    """The constant that an elementwise operation on constants gives; None if an operand is not constant.

    None also for a result that is NaN, as its bits are lost in a constant, and for one that constants cannot be.
    """
    # [task 9.2] `evaluate` takes NumPy scalars: `as_scalar`. It may warn of what overflows.
    constants = [number for operand in operation.operands if (number := constant_of(operand)) is not None]
    if len(constants) < len(operation.operands) or is_pointer(operation.result.type):
        return None
    scalars = [
        as_scalar(constant, operand.type) for constant, operand in zip(constants, operation.operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        results = evaluate(operation, scalars)
    number = as_number(results[0], operation.result.type) if results else None
    return None if number is None or number != number else rewriter.constant(number, operation.result.type)
    # [end]


def fold_moving(rewriter: Rewriter, operation: Operation) -> Sequence[Value] | None:
    """The results of an operation that moves elements, all of which are one constant; None if they are not."""
    # [task 9.2] Two constants are the same if their `repr` is: 0.0 and -0.0 are not.
    constants = [constant_of(operand) for operand in operation.operands]
    if (first := constants[0]) is None or len(set(map(repr, constants))) > 1:
        return None
    return [rewriter.constant(first, result.type) for result in operation.results]
    # [end]


def fold_range(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A range of one element is a constant."""
    start: Any = operation.attributes["start"]
    return rewriter.constant(start, operation.result.type) if shape_of(operation.result.type) == (1,) else None


def raise_constant(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The same constant at the beginning of the function, where it is visible everywhere; None if it is there.

    Constants inside of a reduction's region stay: the region is a function of its own in a back end.
    """
    # [task 9.2] The block that a function begins with has the function as its `parent_op`.
    around = operation.parent_op
    while around and around.name != "tt.func":
        if around.name in COMBINING:
            return None
        around = around.parent_op
    if around is None or operation.parent is (block := around.regions[0].block):
        return None
    with rewriter.before(block.operations[0]):
        return rewriter.like(operation, result=operation.result.type)
    # [end]


def is_pointer(type: Type) -> bool:
    """Whether the elements are pointers, of which there are no constants. (Given.)"""
    return isinstance(element_type(type), PointerType)


def as_scalar(number: Number, type: Type) -> np.generic:
    """A constant of this type as a NumPy scalar. (Given.)"""
    return numpy_dtype(type).type(number)


def as_number(scalar: np.generic, type: Type) -> Number:
    """A NumPy scalar as the number that a constant of this type holds. (Given.)"""
    return float(scalar) if isinstance(element_type(type), FloatType) else scalar.item()


CONSTANT = frozenset(["arith.constant"])
FOLDING = (
    Rule("fold elementwise operations", (*TABLE,), fold_elementwise, CONSTANT),
    Rule("fold operations that move elements", MOVING, fold_moving, CONSTANT),
    Rule("fold ranges", ("tt.make_range",), fold_range),
    Rule("raise constants", ("arith.constant",), raise_constant),
)
