"""Tensors as functions of an index: the values of a graph before anything is computed.

`tensor.at(body, index)` adds the lines that compute one element to a loop body, and returns its value. An elementwise
operator uses its operands at the same index, a transposition uses its operand at the swapped index, and a reduction
uses a whole row. `grouping` decides later which values are stored.
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
    """A value of the graph. `strides` come from PyTorch; they describe the memory of a stored tensor."""

    name: str
    dtype: torch.dtype
    shape: tuple[sympy.Expr, ...]
    strides: tuple[sympy.Expr, ...]
    device: torch.device
    inputs: tuple[Tensor, ...] = field(default=(), repr=False)

    @functools.cached_property
    def order(self) -> list[int]:
        """The dimensions, from the one with the largest stride to the contiguous one."""
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
        """Whether its elements fill memory without gaps or overlaps."""
        expected = sympy.Integer(1)
        for axis in reversed(self.order):
            if self.shape[axis] != 1 and self.strides[axis] != expected:
                return False
            expected = expected * self.shape[axis]
        return True

    def position(self, index: Index) -> sympy.Expr:
        """The position of an element in memory order, if there are no gaps."""
        return ravel([index[axis] for axis in self.order], [self.shape[axis] for axis in self.order])

    def index_at(self, position: sympy.Expr) -> Index:
        """The index of the element at a position: the inverse of `position`."""
        found = unravel(position, [self.shape[axis] for axis in self.order])
        index = [sympy.Integer(0)] * len(self.shape)
        for axis, coordinate in zip(self.order, found, strict=True):
            index[axis] = coordinate
        return tuple(index)

    def offset(self, index: Index) -> sympy.Expr:
        """The distance in memory from the first element to this one, in elements."""
        return join(sympy.Add(*(i * stride for i, stride in zip(index, self.strides, strict=True))))


def hint(size: sympy.Expr) -> int:
    """A size as a number, with 4099 in place of each symbol. (Given.)"""
    if size.is_Integer:
        return int(size)
    numbers = size.xreplace({symbol: sympy.Integer(4099) for symbol in size.free_symbols})
    return int(numbers.replace(Quotient, lambda a, b: a // b).replace(Remainder, lambda a, b: a % b))


@dataclass(eq=False)
class Stored(Tensor):
    """A tensor that is in memory before any kernel runs, or is the result of a call. It can only be loaded."""


@dataclass(eq=False)
class Called(Stored):
    """The result of an operator that PyTorch computes. `reason` tells why it is not fused."""

    call: Any = None  # the node of the graph
    reason: str = ""
    position_in_result: int | None = None
    overwrites: tuple[Tensor, ...] = field(default=(), repr=False)  # arguments of the graph


@dataclass(eq=False)
class Computed(Tensor):
    """A tensor whose elements are computed from elements of `inputs`.

    A tensor that `is_free`, such as a view or a constant, is never worth storing, so every reader computes it.
    """

    at: At = field(default=None, repr=False)  # type: ignore[assignment]
    is_free: bool = False
    into: Stored | None = field(default=None, repr=False)  # an argument of the graph that it overwrites


@dataclass(eq=False)
class View(Computed):
    """A view: elements of its only input at different indices, in the same memory if `strides` permit."""

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
        """The position of the source's element at `index` in its row, as argmax returns it."""
        return ravel([index[axis] for axis in self.axes], [self.source.shape[axis] for axis in self.axes])


def overwritten_by(tensor: Tensor) -> tuple[Tensor, ...]:
    """The arguments of the graph that a tensor overwrites."""
    if isinstance(tensor, Called):
        return tensor.overwrites
    return (tensor.into,) if isinstance(tensor, Computed) and tensor.into is not None else ()


@dataclass(eq=False)
class Product(Tensor):
    """A matrix product of its two inputs, (B, M, K) and (B, K, N)."""


def sizes_of(value: torch.Tensor) -> tuple[sympy.Expr, ...]:
    return tuple(map(sympify, value.shape))


def strides_in(value: torch.Tensor) -> tuple[sympy.Expr, ...]:
    return tuple(map(sympify, value.stride()))
