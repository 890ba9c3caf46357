"""Shadows: which elements of a value are poisoned, which means that they must not matter. (Given.)

A value may have two shadows, which are arrays of its shape with a number for each element: `poison` for any reason, and
`wrapped` for offsets that have wrapped around. The number is 0 for a good element; any other number identifies the
origin of the poison. Most values have no shadows (None), which costs nothing.

The words are those of LLVM's MemorySanitizer.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mini_triton.ir import moves
from mini_triton.ir.core import Operation
from mini_triton.ir.ops.definition import traits
from mini_triton.ir.types import I1, element_type, shape_of
from mini_triton.sanitizer.facts import OFFSETS

Shadow = np.ndarray | None


class Traced(NamedTuple):
    """A value and its shadows."""

    value: Any
    poison: Shadow = None
    wrapped: Shadow = None


class Origin(NamedTuple):
    """Where poison comes from: one operation of one program."""

    kind: str
    operation: Operation
    what: str  # with the element in place of {}
    argument: str
    elements: np.ndarray | None  # by lane


class Origins:
    """All poison that a program has produced so far: the numbers in shadows, and their meanings."""

    def __init__(self) -> None:
        self.first = [0]  # the first number of each origin
        self.known: list[Origin] = []
        self.next = 1

    def mark(self, lanes: np.ndarray, origin: Origin) -> np.ndarray:
        """A shadow that poisons these lanes."""
        self.first.append(self.next)
        self.known.append(origin)
        shadow = np.where(lanes, self.next + np.arange(lanes.size).reshape(lanes.shape), 0)
        self.next += lanes.size
        return shadow

    def find(self, number: int) -> tuple[Origin, int]:
        """The origin behind a number, and the lane."""
        at = bisect.bisect_right(self.first, number) - 1
        return self.known[at - 1], number - self.first[at]


def both(x: Shadow, y: Shadow) -> Shadow:
    """The shadow of elements that are poisoned in either shadow."""
    return y if x is None else x if y is None else np.maximum(x, y)


def in_lanes(shadow: Shadow, lanes: Any) -> Shadow:
    """The part of a shadow in these lanes; None if nothing is left. If `lanes` is None, all lanes are meant."""
    if shadow is None:
        return None
    left = shadow if lanes is None else np.where(lanes, shadow, 0)
    return left if left.any() else None


def propagate(operation: Operation, operands: Sequence[Traced]) -> list[tuple[Shadow, Shadow]]:
    """The shadows of the results of an operation without effects, if an operand has any."""
    poisons, wrapped = [x.poison for x in operands], [x.wrapped for x in operands]
    if operation.name not in OFFSETS:
        wrapped = [None] * len(operands)
    if operation.name == "arith.select":
        condition = operands[0].value
        return [(both(chosen(condition, *poisons[1:]), poisons[0]), chosen(condition, *wrapped[1:]))]
    if traits(operation).moves:
        return list(zip(moved(operation, operands, poisons), moved(operation, operands, wrapped), strict=True))
    if operation.name == "tt.gather":
        return [(gathered(operation, operands, poisons), gathered(operation, operands, wrapped))]
    if operation.name in ("arith.andi", "arith.ori") and element_type(operation.operands[0].type) == I1:
        return [(decided(operation, operands), None)]
    shape = shape_of(operation.results[0].type)
    return [(merged(poisons, shape), merged(wrapped, shape))]


def merged(shadows: Sequence[Shadow], shape: tuple[int, ...]) -> Shadow:
    """The shadow of an elementwise result."""
    result: Shadow = None
    for shadow in shadows:
        result = both(result, shadow)
    return None if result is None else np.broadcast_to(result, shape)


def chosen(condition: Any, x: Shadow, y: Shadow) -> Shadow:
    """The shadow of a select: poison that is not chosen does not matter."""
    if x is None and y is None:
        return None
    return in_lanes(np.where(condition, 0 if x is None else x, 0 if y is None else y), None)


def decided(operation: Operation, operands: Sequence[Traced]) -> Shadow:
    """The shadow of `and` and `or`: where one good operand decides, the other operand does not matter."""
    decides = operation.name == "arith.ori"
    x, y = operands
    result: Shadow = None
    for one, other in ((x, y), (y, x)):
        if one.poison is not None:
            good = other.value == decides if other.poison is None else (other.value == decides) & (other.poison == 0)
            result = both(result, in_lanes(one.poison, ~np.asarray(good)))
    return result


def moved(operation: Operation, operands: Sequence[Traced], shadows: Sequence[Shadow]) -> Sequence[Shadow]:
    """The shadows of moved elements, which move in the same way."""
    if all(shadow is None for shadow in shadows):
        return [None] * len(operation.results)
    arrays = [
        np.zeros(np.shape(operand.value), np.int64) if shadow is None else shadow
        for operand, shadow in zip(operands, shadows, strict=True)
    ]
    return [np.asarray(array) for array in moves.moved(operation, arrays)]


def gathered(operation: Operation, operands: Sequence[Traced], shadows: Sequence[Shadow]) -> Shadow:
    """The shadow of elements that are picked by indices."""
    source, index = shadows
    axis: Any = operation.attributes["axis"]
    picked = None if source is None else np.take_along_axis(source, operands[1].value, axis)
    return both(picked, index)


def combined(shadows: Sequence[Shadow], axis: int) -> tuple[Shadow, Shadow]:
    """The shadows of elements combined along an axis: where all were poisoned, and where only some were."""
    merged_shadow = merged(shadows, next(shadow.shape for shadow in shadows if shadow is not None))
    assert merged_shadow is not None
    any_, all_ = merged_shadow.max(axis), (merged_shadow > 0).all(axis)
    return in_lanes(any_, all_), in_lanes(any_, ~all_)
