"""Constant folding: an operation on constants becomes a constant.

The interpreter's table defines the meaning of operations: `evaluate(operation, operands)` in `ir/interpreter.py`. All
elements of a constant are the same number. Therefore, an elementwise operation is evaluated once, on scalars, and an
operation that only moves elements returns the same constant in a new shape.

Source: MLIR's `OperationFolder`; `fold` in its `ArithOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mini_triton.ir.core import Operation, Value
from mini_triton.ir.interpreter import evaluate
from mini_triton.ir.ops.definition import definitions
from mini_triton.ir.ops.elementwise import TABLE
from mini_triton.ir.storage import numpy_dtype
from mini_triton.ir.types import FloatType, Type, element_type, is_pointer, shape_of
from mini_triton.transforms.rewriting import Number, Rewriter, Rule, constant_of

MOVING = tuple(name for name, declared in definitions().items() if declared.moves)
"""Operations that only move elements."""


def fold_elementwise(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The constant that an elementwise operation on constants computes; None if an operand is not a constant.

    Also None if a constant cannot hold the result.
    """
    # Task 9.2: `addi` of a tensor of 2s and a tensor of 3s is a tensor of 5s. Overflow must not cause warnings. Which
    # two kinds of results can a constant not hold?
    raise NotImplementedError("Task 9.2: Constant folding")


def fold_moving(rewriter: Rewriter, operation: Operation) -> Sequence[Value] | None:
    """A constant for each result of an operation that moves elements; None unless all operands are the same constant.

    0.0 and -0.0 are different constants.
    """
    # Task 9.2: `tt.join` of two tensors of 1.5s is a larger tensor of 1.5s; `tt.split` has two results. Given:
    # `constant_of`.
    raise NotImplementedError("Task 9.2: Constant folding")


def fold_range(rewriter: Rewriter, operation: Operation) -> Value | None:
    """The constant that replaces a range of one element; None for a longer range. (Given.)"""
    start: Any = operation.attributes["start"]
    return rewriter.constant(start, operation.result.type) if shape_of(operation.result.type) == (1,) else None


def raise_constant(rewriter: Rewriter, operation: Operation) -> Value | None:
    """A copy of a constant at the beginning of the function, where it dominates all uses of the constant.

    None if the constant is already in the function's own block, at any position.
    """
    # Task 9.2: The constant may be inside several nested loops.
    raise NotImplementedError("Task 9.2: Constant folding")


def scalar_of(value: Value) -> np.generic | None:
    """A constant as a NumPy scalar of its type; None if the value is not a constant. (Given.)"""
    number = constant_of(value)
    return None if number is None else numpy_dtype(value.type).type(number)


def as_number(scalar: np.generic, type: Type) -> Number:
    """A NumPy scalar as the number that a constant of this type holds. (Given.)"""
    return float(scalar) if isinstance(element_type(type), FloatType) else scalar.item()


FOLDED = tuple(name for name in TABLE if name != "tt.extern_elementwise")
"""Elementwise operations that can be evaluated at compile time, when a device's own library is not available."""
CONSTANT = frozenset(["arith.constant"])
FOLDING = (
    Rule("fold elementwise operations", FOLDED, fold_elementwise, CONSTANT),
    Rule("fold operations that move elements", MOVING, fold_moving, CONSTANT),
    Rule("fold ranges", ("tt.make_range",), fold_range),
    Rule("raise constants", ("arith.constant",), raise_constant),
)
