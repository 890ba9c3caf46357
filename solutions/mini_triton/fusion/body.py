"""The body of a loop nest: a straight-line program that computes elements of tensors.

Its lines are values, numbered in order; equal lines are one line. A *space* says which loops run around them: along
`x` every element is a result of its own, along `r` elements are reduced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy
import torch

from mini_triton.fusion.indexing import Coordinate, Index, numel, ravel
from mini_triton.fusion.operators import computed_in
from mini_triton.fusion.tensors import Computed, Reduction, Tensor


class CannotFuse(Exception):
    """Tensors cannot be computed by one kernel, for this reason."""


@dataclass(frozen=True)
class Space:
    """The loops of a kernel: sizes from the outermost to the innermost, and which of them are reduced."""

    sizes: tuple[sympy.Expr, ...]
    reduced: tuple[bool, ...]

    @property
    def coordinates(self) -> tuple[sympy.Expr, ...]:
        """The position along each loop."""
        return tuple(
            sympy.Integer(0) if size == 1 else Coordinate(f"{'r' if reduced else 'x'}{number}", size, reduced)
            for number, (size, reduced) in enumerate(zip(self.sizes, self.reduced, strict=True))
        )

    def extent(self, reduced: bool) -> sympy.Expr:
        """The number of steps of the loops of one kind."""
        return numel([size for size, is_reduced in zip(self.sizes, self.reduced, strict=True) if is_reduced == reduced])

    def kept(self) -> Space:
        """The same without the loops that are reduced."""
        sizes = [size for size, reduced in zip(self.sizes, self.reduced, strict=True) if not reduced]
        return Space(tuple(sizes), (False,) * len(sizes))


def space_of(tensor: Tensor) -> Space:
    """The loops that compute a tensor by itself, in the order of memory: a reduction's go over its source. (Given.)"""
    source = tensor.source if isinstance(tensor, Reduction) else tensor
    reduced = tensor.axes if isinstance(tensor, Reduction) else ()
    order = source.order
    return Space(tuple(source.shape[axis] for axis in order), tuple(axis in reduced for axis in order))


@functools.cache
def index_in(space: Space, tensor: Tensor) -> Index:
    """The element of `tensor` that a step of the loops in `space` computes.

    An elementwise tensor has as many elements as the space has steps, or as the space has without the loops that are
    reduced; they follow each other in the order of memory. A reduction has the index of its source with 0 along what
    it reduces: the loops must reduce that and nothing else. Raises `CannotFuse` if the loops do not fit.
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
    """The element of a tensor at each step, one after the other in the order of memory. (Given.)"""
    coordinates = space.coordinates
    if sympy.expand(tensor.numel - numel(space.sizes)) == 0:
        return tensor.index_at(ravel(coordinates, space.sizes))
    kept = [(c, s) for c, s, reduced in zip(coordinates, space.sizes, space.reduced, strict=True) if not reduced]
    if sympy.expand(tensor.numel - numel([size for _, size in kept])) == 0:
        return tensor.index_at(ravel([c for c, _ in kept], [size for _, size in kept]))
    raise CannotFuse(f"{tensor.name} has {tensor.numel} elements, the loops have {numel(space.sizes)} steps")


class Line(NamedTuple):
    """One value: what computes it, from which values or tensors, at which place in memory, under which condition."""

    op: str  # an operator's name, or load, constant, index, cast, reduce, select
    operands: tuple[int, ...]
    dtype: torch.dtype
    detail: Any = None  # of a load the tensor, of a constant the number, of a reduction the kind
    place: Any = None  # an expression
    condition: int | None = None


class Value(NamedTuple):
    """A value of a body: the number of its line, and its dtype."""

    number: int
    dtype: torch.dtype
    shape: tuple[int, ...] = (1,)  # for promotion: not a Python number


class Chosen(sympy.Symbol):
    """A value that is part of an index: an element of a tensor of integers."""

    number: int


def chosen(number: int) -> Chosen:
    symbol = Chosen(f"v{number}", integer=True, nonnegative=True)
    symbol.number = number
    return symbol


@dataclass
class Body:
    """Lines, and the tensors that are computed here: all others are loaded."""

    space: Space
    members: set[Tensor]
    lines: list[Line] = field(default_factory=list)
    condition: int | None = None  # lines that are added now are needed only where this value is true
    _numbers: dict[Line, int] = field(default_factory=dict)
    _known: dict[tuple[Tensor, Index, int | None], Value] = field(default_factory=dict)

    def add(self, line: Line) -> Value:
        """The value of a line: that of an equal one, or of a new one."""
        if line not in self._numbers:
            self._numbers[line] = len(self.lines)
            self.lines.append(line)
        return Value(self._numbers[line], line.dtype)

    def constant(self, number: float, dtype: torch.dtype) -> Value:
        return self.add(Line("constant", (), dtype, (type(number), repr(number))))

    def index(self, expr: sympy.Expr, dtype: torch.dtype = torch.int32) -> Value:
        """An index as a value, as in `arange`."""
        numbers = sorted(symbol.number for symbol in expr.free_symbols if isinstance(symbol, Chosen))
        return self.add(Line("index", tuple(numbers), dtype, place=expr))

    def number(self, expr: sympy.Expr, dtype: torch.dtype) -> Value:
        """A number that depends on symbolic sizes: it is computed before the launch."""
        return self.add(Line("number", (), dtype, place=expr))

    def load(self, tensor: Tensor, place: sympy.Expr) -> Value:
        """The element of a stored tensor that is this far from its first one."""
        numbers = sorted(symbol.number for symbol in place.free_symbols if isinstance(symbol, Chosen))
        line = Line("load", tuple(numbers), computed_in(tensor.dtype), tensor, place, self.condition)
        return self.add(line)

    def cast(self, value: Value, dtype: torch.dtype) -> Value:
        """The value in another dtype. Nothing is done if it has it."""
        if value.dtype == dtype:
            return value
        return self.add(Line("cast", (value.number,), dtype))

    def apply(self, name: str, operands: Iterable[Value], dtype: torch.dtype | None = None) -> Value:
        """An elementwise operator on values of one dtype."""
        values = list(operands)
        return self.add(Line(name, tuple(value.number for value in values), dtype or values[-1].dtype))

    def where(self, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """One of two values. What only one of them needs is loaded only where it is needed."""
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
        """An element of a tensor: computed here if it can be, or loaded."""
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
        """What the loops reduce to an element of this tensor: a line `reduce`.

        Its operand is the element of the source at each step, its `detail` is the kind, and its `place` says which
        element of the row a step is. The whole row is reduced: `condition` is for the lines after it.
        """
        # [task 12.4] `elements_in(self.space, source)` is the index of the source's element at each step.
        condition, self.condition = self.condition, None
        index = elements_in(self.space, tensor.source)
        source = self.value(tensor.source, index)
        self.condition = condition
        place = tensor.place_in_row(index)
        return self.add(Line("reduce", (source.number,), computed_in(tensor.dtype), tensor.kind, place))
        # [end]
