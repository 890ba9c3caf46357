"""Operations that only move elements: what follows from the trait `moves`. (Given.)

moved(operation, arrays)    the results, as arrays
view_of(operation)          for each axis of the result, the operand's axis; None if axes mix
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.types import shape_of

View = tuple[int | None, ...]
"""For each axis of a result, the operand's axis along which its elements lie; None if elements repeat along it."""


def moved(operation: Operation, arrays: Sequence[Any]) -> list[Any]:
    """The results of an operation that moves elements, for these operands."""
    moves = traits(operation).moves
    assert moves is not None
    results = []
    for number, result in enumerate(operation.results):
        shape = shape_of(result.type)
        operand, index = moves(operation, number, tuple(np.ogrid[tuple(map(slice, shape))]))
        if isinstance(operand, int):
            elements = np.asarray(arrays[operand])[index]
        else:  # some elements come from the first operand, and the others from the second
            elements = np.where(operand == 0, *(array[index] for array in arrays))
        results.append(np.broadcast_to(elements, shape)[()])
    return results


@dataclass(frozen=True)
class Coordinate:
    """The index along an axis of a result. A constant may be added; after any other computation, `axis` is None."""

    axis: int | None

    def add(self, other: Any) -> Coordinate:
        return self if isinstance(other, int) else MIXED

    def mix(self, other: Any) -> Coordinate:
        return MIXED

    __add__ = __radd__ = __sub__ = __rsub__ = add
    __mul__ = __rmul__ = __floordiv__ = __mod__ = mix


MIXED = Coordinate(None)


def view_of(operation: Operation) -> View | None:
    """For each axis of the result, the axis of the only operand; None if the operation moves elements in other ways.

    `tt.trans` permutes axes, `tt.expand_dims` adds an axis, and `tt.broadcast` repeats along axes of size 1. A reshape
    is not a view, because elements along one axis may come from several axes.
    """
    moves = traits(operation).moves
    if moves is None or len(operation.operands) > 1:
        return None
    axes: list[int | None] = [None] * len(shape_of(operation.results[0].type))
    _, index = moves(operation, 0, tuple(map(Coordinate, range(len(axes)))))
    for axis, (at, size) in enumerate(zip(index, shape_of(operation.operands[0].type), strict=True)):
        if isinstance(at, Coordinate):
            if at.axis is None or axes[at.axis] is not None:
                return None
            axes[at.axis] = axis
        elif size > 1:
            return None
    return tuple(axes)
