"""Tensors as functions of an index: what is known of a graph's values before anything is computed.

`tensor.at(body, index)` adds to a loop body what computes one element, and returns that value. So an elementwise
operator asks its operands at the same index, a transposition asks at the swapped index, and a reduction asks for a
whole row. Nothing says where a value is stored: that is decided by `grouping`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sympy
import torch

from mini_triton.fusion.indexing import Index, Quotient, Remainder, join, numel, ravel, sympify, unravel

if TYPE_CHECKING:
    from mini_triton.fusion.body import Body, Value

At = Callable[["Body", Index], "Value"]


@dataclass(eq=False)
class Tensor:
    """A value of the graph. `strides` are those that PyTorch gives it: its memory, if it is ever stored."""

    name: str
    dtype: torch.dtype
    shape: tuple[sympy.Expr, ...]
    strides: tuple[sympy.Expr, ...]
    device: torch.device
    inputs: tuple[Tensor, ...] = field(default=(), repr=False)

    @functools.cached_property
    def order(self) -> list[int]:
        """The dimensions from the one whose neighbours are farthest apart to the contiguous one."""
        strides = list(map(hint, self.strides))
        return sorted(range(len(self.shape)), key=lambda axis: (-strides[axis], axis))

    @functools.cached_property
    def numel(self) -> sympy.Expr:
        return numel(self.shape)

    @property
    def nbytes(self) -> sympy.Expr:
        return self.numel * self.dtype.itemsize

    @property
    def is_dense(self) -> bool:
        """Whether its elements lie in memory without gaps and overlaps."""
        expected = sympy.Integer(1)
        for axis in reversed(self.order):
            if self.shape[axis] != 1 and self.strides[axis] != expected:
                return False
            expected = expected * self.shape[axis]
        return True

    def position(self, index: Index) -> sympy.Expr:
        """Where an element is in the order of memory, if there are no gaps."""
        return ravel([index[axis] for axis in self.order], [self.shape[axis] for axis in self.order])

    def index_at(self, position: sympy.Expr) -> Index:
        """The index of the element at a position: the inverse of `position`."""
        found = unravel(position, [self.shape[axis] for axis in self.order])
        index = [sympy.Integer(0)] * len(self.shape)
        for axis, coordinate in zip(self.order, found, strict=True):
            index[axis] = coordinate
        return tuple(index)

    def offset(self, index: Index) -> sympy.Expr:
        """How far from its first element an element is stored."""
        return join(sympy.Add(*(i * stride for i, stride in zip(index, self.strides, strict=True))))


def hint(size: sympy.Expr) -> int:
    """A number in place of a symbolic one, to compare by. (Given.)"""
    if size.is_Integer:
        return int(size)
    numbers = size.xreplace({symbol: sympy.Integer(4099) for symbol in size.free_symbols})
    return int(numbers.replace(Quotient, lambda a, b: a // b).replace(Remainder, lambda a, b: a % b))


@dataclass(eq=False)
class Stored(Tensor):
    """A tensor that is in memory before any kernel runs, or comes out of a call: it can only be loaded."""


@dataclass(eq=False)
class Called(Stored):
    """What PyTorch computes: an operator that is not fused, for the reason given."""

    call: Any = None  # the node of the graph
    reason: str = ""
    position_in_result: int | None = None


@dataclass(eq=False)
class Computed(Tensor):
    """An element is computed from elements of `inputs`.

    One that `is_free` is never worth storing: a view, a constant. Whoever needs it computes it.
    """

    at: At = field(default=None, repr=False)  # type: ignore[assignment]
    is_free: bool = False
    into: Stored | None = field(default=None, repr=False)  # an argument of the graph that it overwrites


@dataclass(eq=False)
class View(Computed):
    """A view: elements of its only input at another index, with the same memory if `strides` say so."""

    offset_in_base: sympy.Expr = sympy.Integer(0)
    shares_memory: bool = True


@dataclass(eq=False)
class Reduction(Tensor):
    """Rows of its only input, reduced to one element each. Reduced dimensions stay, with size 1."""

    kind: str = "sum"
    axes: tuple[int, ...] = ()

    @property
    def source(self) -> Tensor:
        return self.inputs[0]

    def place_in_row(self, index: Index) -> sympy.Expr:
        """Which element of its row an element of the source is: what argmax returns."""
        return ravel([index[axis] for axis in self.axes], [self.source.shape[axis] for axis in self.axes])


@dataclass(eq=False)
class Product(Tensor):
    """A matrix product of its two inputs, (B, M, K) and (B, K, N)."""


def sizes_of(value: torch.Tensor) -> tuple[sympy.Expr, ...]:
    return tuple(map(sympify, value.shape))


def strides_in(value: torch.Tensor) -> tuple[sympy.Expr, ...]:
    return tuple(map(sympify, value.stride()))
