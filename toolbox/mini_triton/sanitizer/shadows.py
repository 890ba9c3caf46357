"""Shadows: which elements of a value must not matter, because they are garbage. (Given.)

A value may have two shadows, which are arrays of its shape with a number for each element: `taint` for garbage of any
kind, and `wrap` for offsets that have wrapped around. The number is 0 for a good element; any other number identifies
the origin of the garbage. Most values have no shadows (None), which costs nothing.
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
    taint: Shadow = None
    wrap: Shadow = None


class Origin(NamedTuple):
    """Where garbage comes from: one step of one program."""

    kind: str
    step: Operation
    what: str  # with the element in place of {}
    argument: str
    elements: np.ndarray | None  # by lane


class Origins:
    """All garbage that a program has produced so far: the numbers in shadows, and their meanings."""

    def __init__(self) -> None:
        self.first = [0]  # the first number of each origin
        self.known: list[Origin] = []
        self.next = 1

    def mark(self, lanes: np.ndarray, origin: Origin) -> np.ndarray:
        """A shadow for new garbage in these lanes."""
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
    """The shadow of elements that are garbage in either shadow."""
    return y if x is None else x if y is None else np.maximum(x, y)


def in_lanes(shadow: Shadow, lanes: Any) -> Shadow:
    """The part of a shadow in these lanes; None if nothing is left. If `lanes` is None, all lanes are meant."""
    if shadow is None:
        return None
    left = shadow if lanes is None else np.where(lanes, shadow, 0)
    return left if left.any() else None


def propagate(step: Operation, operands: Sequence[Traced]) -> list[tuple[Shadow, Shadow]]:
    """The shadows of the results of an operation without effects, if an operand has any."""
    taints, wraps = [x.taint for x in operands], [x.wrap for x in operands]
    if step.name not in OFFSETS:
        wraps = [None] * len(operands)
    if step.name == "arith.select":
        condition = operands[0].value
        return [(both(chosen(condition, *taints[1:]), taints[0]), chosen(condition, *wraps[1:]))]
    if traits(step).moves:
        return list(zip(moved(step, operands, taints), moved(step, operands, wraps), strict=True))
    if step.name == "tt.gather":
        return [(gathered(step, operands, taints), gathered(step, operands, wraps))]
    if step.name in ("arith.andi", "arith.ori") and element_type(step.operands[0].type) == I1:
        return [(decided(step, operands), None)]
    shape = shape_of(step.results[0].type)
    return [(merged(taints, shape), merged(wraps, shape))]


def merged(shadows: Sequence[Shadow], shape: tuple[int, ...]) -> Shadow:
    """The shadow of an elementwise result."""
    result: Shadow = None
    for shadow in shadows:
        result = both(result, shadow)
    return None if result is None else np.broadcast_to(result, shape)


def chosen(condition: Any, x: Shadow, y: Shadow) -> Shadow:
    """The shadow of a select: garbage that is not chosen does not matter."""
    if x is None and y is None:
        return None
    return in_lanes(np.where(condition, 0 if x is None else x, 0 if y is None else y), None)


def decided(step: Operation, operands: Sequence[Traced]) -> Shadow:
    """The shadow of `and` and `or`: where one good operand decides, the other operand does not matter."""
    decides = step.name == "arith.ori"
    x, y = operands
    result: Shadow = None
    for one, other in ((x, y), (y, x)):
        if one.taint is not None:
            good = other.value == decides if other.taint is None else (other.value == decides) & (other.taint == 0)
            result = both(result, in_lanes(one.taint, ~np.asarray(good)))
    return result


def moved(step: Operation, operands: Sequence[Traced], shadows: Sequence[Shadow]) -> Sequence[Shadow]:
    """The shadows of moved elements, which move in the same way."""
    if all(shadow is None for shadow in shadows):
        return [None] * len(step.results)
    arrays = [
        np.zeros(np.shape(operand.value), np.int64) if shadow is None else shadow
        for operand, shadow in zip(operands, shadows, strict=True)
    ]
    return [np.asarray(array) for array in moves.moved(step, arrays)]


def gathered(step: Operation, operands: Sequence[Traced], shadows: Sequence[Shadow]) -> Shadow:
    """The shadow of elements that are picked by indices."""
    source, index = shadows
    axis: Any = step.attributes["axis"]
    picked = None if source is None else np.take_along_axis(source, operands[1].value, axis)
    return both(picked, index)


def combined(shadows: Sequence[Shadow], axis: int) -> tuple[Shadow, Shadow]:
    """The shadows of elements combined along an axis: where all were garbage, and where only some were garbage."""
    merged_shadow = merged(shadows, next(shadow.shape for shadow in shadows if shadow is not None))
    assert merged_shadow is not None
    any_, all_ = merged_shadow.max(axis), (merged_shadow > 0).all(axis)
    return in_lanes(any_, all_), in_lanes(any_, ~all_)
