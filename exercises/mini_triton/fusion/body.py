"""The body of a loop nest: a straight-line program that computes elements of tensors.

Each line computes a value; lines are numbered in order, and equal lines are merged. A *space* describes the loops
around the lines. Each step along the loops `x` computes a separate result; the values of all steps along the loops `r`
are reduced to one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy
import torch

from mini_triton.fusion.indexing import Coordinate, Index, numel, one_coordinate, ravel
from mini_triton.fusion.operators import computed_in
from mini_triton.fusion.tensors import Computed, Reduction, Tensor


class CannotFuse(Exception):
    """One kernel cannot compute these tensors. The message gives the reason."""


@dataclass(frozen=True)
class Space:
    """The loops of a kernel: their sizes, from the outermost to the innermost, and which loops are reduced."""

    sizes: tuple[sympy.Expr, ...]
    reduced: tuple[bool, ...]

    @property
    def coordinates(self) -> tuple[sympy.Expr, ...]:
        """The position along each loop."""
        return tuple(
            sympy.Integer(0) if size == 1 else one_coordinate(f"{'r' if reduced else 'x'}{number}", size, reduced)
            for number, (size, reduced) in enumerate(zip(self.sizes, self.reduced, strict=True))
        )

    def extent(self, reduced: bool) -> sympy.Expr:
        """The number of steps of all reduced loops, or of all other loops."""
        return numel([size for size, is_reduced in zip(self.sizes, self.reduced, strict=True) if is_reduced == reduced])

    def kept(self) -> Space:
        """The same space without the reduced loops."""
        sizes = [size for size, reduced in zip(self.sizes, self.reduced, strict=True) if not reduced]
        return Space(tuple(sizes), (False,) * len(sizes))


def space_of(tensor: Tensor) -> Space:
    """The loops that compute a single tensor, in memory order; for a reduction, the loops over its source. (Given.)"""
    source = tensor.source if isinstance(tensor, Reduction) else tensor
    reduced = tensor.axes if isinstance(tensor, Reduction) else ()
    order = source.order
    return Space(tuple(source.shape[axis] for axis in order), tuple(axis in reduced for axis in order))


@functools.cache
def index_in(space: Space, tensor: Tensor) -> Index:
    """The element of `tensor` that a step of the loops in `space` computes.

    The elements of an elementwise tensor are computed in memory order, one for each step, or one for each step of the
    loops that are not reduced. The index of a reduction is the index of its source, with 0 along the dimensions that it
    reduces; the loops must reduce exactly these dimensions. Raises `CannotFuse` if the loops do not fit.
    """
    if not isinstance(tensor, Reduction):
        return elements_in(space, tensor)
    index = elements_in(space, tensor.source)
    if sympy.expand(space.extent(reduced=True) - numel([tensor.source.shape[axis] for axis in tensor.axes])) != 0:
        raise CannotFuse(f"the loops do not reduce as many elements as {tensor.name}")
    for axis, i in enumerate(index):
        if any(c.reduced != (axis in tensor.axes) for c in i.free_symbols if isinstance(c, Coordinate)):
            raise CannotFuse(f"the loops do not reduce the same dimensions as {tensor.name}")
    return tuple(sympy.Integer(0) if axis in tensor.axes else i for axis, i in enumerate(index))


@functools.cache
def elements_in(space: Space, tensor: Tensor) -> Index:
    """The index of the element at each step, if the steps follow memory order. (Given.)"""
    coordinates = space.coordinates
    if tuple(tensor.shape[axis] for axis in tensor.order) == space.sizes:
        return tuple(coordinates[tensor.order.index(axis)] for axis in range(len(tensor.shape)))
    if sympy.expand(tensor.numel - numel(space.sizes)) == 0:
        return tensor.index_at(ravel(coordinates, space.sizes))
    kept = [(c, s) for c, s, reduced in zip(coordinates, space.sizes, space.reduced, strict=True) if not reduced]
    if sympy.expand(tensor.numel - numel([size for _, size in kept])) == 0:
        return tensor.index_at(ravel([c for c, _ in kept], [size for _, size in kept]))
    raise CannotFuse(f"{tensor.name} has {tensor.numel} elements, but the loops have {numel(space.sizes)} steps")


class Line(NamedTuple):
    """One value: operator, operands, position in memory, and the condition under which the value is needed."""

    op: str  # an operator's name, or load, constant, index, cast, reduce, select
    operands: tuple[int, ...]
    dtype: torch.dtype
    detail: Any = None  # the tensor of a load, the number of a constant, the kind of a reduction
    place: Any = None  # an expression
    condition: int | None = None

    @property
    def needed(self) -> list[int]:
        """The lines that this line waits for: its operands and, if it has one, its condition."""
        return [*self.operands, *([self.condition] if self.condition is not None else [])]


class Value(NamedTuple):
    """A value of a body: the number of its line, and its dtype."""

    number: int
    dtype: torch.dtype
    shape: tuple[int, ...] = (1,)  # marks the value as a tensor, not a Python number, for promotion


class Chosen(sympy.Symbol):
    """A value that is part of an index: an element of an integer tensor."""

    number: int


def chosen(number: int) -> Chosen:
    symbol = Chosen(f"v{number}", integer=True, nonnegative=True)
    symbol.number = number
    return symbol


@dataclass
class Body:
    """Lines, and the tensors that they compute. All other tensors are loaded."""

    space: Space
    members: set[Tensor]
    lines: list[Line] = field(default_factory=list)
    condition: int | None = None  # lines added now are needed only where this value is true
    _numbers: dict[Line, int] = field(default_factory=dict)
    _known: dict[tuple[Tensor, Index, int | None], Value] = field(default_factory=dict)

    def add(self, line: Line) -> Value:
        """Add a line, unless an equal one exists, and return its value."""
        if line not in self._numbers:
            self._numbers[line] = len(self.lines)
            self.lines.append(line)
        return Value(self._numbers[line], line.dtype)

    def constant(self, number: float, dtype: torch.dtype) -> Value:
        """A number as a value. Integers out of range wrap around, as in PyTorch."""
        if isinstance(number, int) and not isinstance(number, bool) and not dtype.is_floating_point:
            limits = torch.iinfo(dtype)
            number = (number - limits.min) % (limits.max - limits.min + 1) + limits.min
        return self.add(Line("constant", (), dtype, (type(number), repr(number))))

    def index(self, expr: sympy.Expr, dtype: torch.dtype = torch.int32) -> Value:
        """An index as a value, as in `arange`."""
        numbers = sorted(symbol.number for symbol in expr.free_symbols if isinstance(symbol, Chosen))
        return self.add(Line("index", tuple(numbers), dtype, place=expr))

    def number(self, expr: sympy.Expr, dtype: torch.dtype) -> Value:
        """A number that depends on symbolic sizes, computed before the launch."""
        return self.add(Line("number", (), dtype, place=expr))

    def load(self, tensor: Tensor, place: sympy.Expr) -> Value:
        """Load the element of a stored tensor at offset `place` from its first element."""
        numbers = sorted(symbol.number for symbol in place.free_symbols if isinstance(symbol, Chosen))
        line = Line("load", tuple(numbers), computed_in(tensor.dtype), tensor, place, self.condition)
        return self.add(line)

    def cast(self, value: Value, dtype: torch.dtype) -> Value:
        """The value cast to `dtype`; the value itself if it already has this dtype."""
        if value.dtype == dtype:
            return value
        return self.add(Line("cast", (value.number,), dtype))

    def apply(self, name: str, operands: Iterable[Value], dtype: torch.dtype | None = None) -> Value:
        """An elementwise operator on values of one dtype."""
        values = list(operands)
        return self.add(Line(name, tuple(value.number for value in values), dtype or values[-1].dtype))

    def where(self, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Select one of two values. Each side's elements are loaded only where this side is selected."""
        before = self.condition
        self.condition = self._both(before, condition)
        a = then()
        self.condition = self._both(before, self.apply("logical_not", [condition]))
        b = otherwise()
        self.condition = before
        return self.apply("where", [condition, a, self.cast(b, a.dtype)], a.dtype)

    def _both(self, before: int | None, condition: Value) -> int:
        if before is None:
            return condition.number
        return self.apply("logical_and", [Value(before, torch.bool), condition]).number

    def value(self, tensor: Tensor, index: Index) -> Value:
        """An element of a tensor: computed in this body if possible, otherwise loaded."""
        key = tensor, index, self.condition
        if key not in self._known:
            self._known[key] = self._value(tensor, index)
        return self._known[key]

    def _value(self, tensor: Tensor, index: Index) -> Value:
        if isinstance(tensor, Computed) and (tensor.is_free or tensor in self.members):
            return tensor.at(self, index)
        if tensor not in self.members:
            return self.load(tensor, tensor.offset(index))
        if index != index_in(self.space, tensor):
            raise CannotFuse(f"{tensor.name} is needed at {index}, where these loops do not compute it")
        if isinstance(tensor, Reduction):
            return self.reduced(tensor)
        return self.add(Line("product", (), torch.float32, tensor))

    def reduced(self, tensor: Reduction) -> Value:
        """Add the `reduce` line that computes an element of `tensor`, and return the line's value.

        If x is an fp16 tensor of the shape (8, 5), the line of `x.argmax(1)` is `Line("reduce", (0,), torch.int64,
        "argmax", r1)`, where line 0 loads x; the place tells where in its row the operand is. For `x.argmax()`, it is
        `5 * r0 + r1`. Other reductions do not need a place, but may have one. The line of `x.sum(1)` has the dtype
        `torch.float32`. Whatever `self.condition` is, whole rows are reduced, as in
        `F.pad(x - x.sum(1, keepdim=True), (1, 0))`.
        """
        # Task 12.4: Add the line.
        raise NotImplementedError("Task 12.4: Reductions")

    def levels(self) -> list[int]:
        """For each line, the number of loops over long rows that must end before the line's value is known.

        For the lines load, max, sub, exp, sum and div of a softmax: [0, 1, 1, 1, 2, 2]. As many reductions as possible
        share a loop.
        """
        # Task 12.4: Find the numbers.
        raise NotImplementedError("Task 12.4: Reductions")
