"""Layouts: which register of which thread holds which element of a tensor.

A layout is a linear function over F2, the numbers 0 and 1 with xor as the sum. Its input is a place: the number of a
register, of a lane and of a warp. Its output is an index of the tensor. Each bit of the place has a basis vector; the
index at a place is the xor of the vectors of the bits that are 1.

    Layout(registers=((0, 1), (0, 2)), lanes=((0, 4), (0, 8), (1, 0), (2, 0), (4, 0)), warps=((8, 0), (0, 0)))

Here, register 3 of lane 1 holds element (0, 1 ^ 2 ^ 4) = (0, 7). A vector of zeros means that the bit does not matter:
warps 0 and 2 hold the same elements.

Source: Triton's `include/triton/Tools/LinearLayout.h`; "Linear Layouts" (Zhou et al., 2025).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Index = tuple[int, ...]
"""A number for each axis of a tensor."""
Columns = tuple[int, ...]
"""A linear function f from numbers to numbers: its values at 1, 2, 4, 8, ... Linear means f(a ^ b) = f(a) ^ f(b)."""
LANE_BITS = 5
"""A warp has 32 lanes."""


def bits_of(number: int) -> list[int]:
    """The positions of the bits that are 1."""
    return [position for position in range(number.bit_length()) if number >> position & 1]


def apply(columns: Columns, number: int) -> int:
    """The value of a linear function at a number: `apply((1, 6), 3)` is 7. The number has a column for each bit."""
    # Task 13.2: Compute the value.
    raise NotImplementedError("Task 13.2: Linear layouts")


def compose(outer: Columns, inner: Columns) -> Columns:
    """The function that applies `inner`, then `outer`: `compose((2, 4, 1), (1, 6))` is (2, 5).

    `outer` has a column for each bit of the values of `inner`.
    """
    # Task 13.2: Compose the functions.
    raise NotImplementedError("Task 13.2: Linear layouts")


def invert(columns: Columns) -> Columns:
    """The inverse of a linear function from n bits to n bits.

    `invert((2, 3))` is (3, 1), because f(3) = 1 and f(1) = 2. All columns have at most n bits. n may be 40, too many
    bits to try all numbers. Raises `ValueError`, whose message contains "no inverse", if two numbers have the same
    value.
    """
    # Task 13.2: Find the inverse, or raise an error.
    raise NotImplementedError("Task 13.2: Linear layouts")


def counting(bits: Sequence[int], count: int) -> Columns:
    """A linear function of numbers with `count` bits: these bits alone as a number, the first as the lowest."""
    return tuple(1 << bits.index(bit) if bit in bits else 0 for bit in range(count))


def is_independent(columns: Sequence[int]) -> bool:
    """Whether no column is a sum (xor) of others. 0 is the empty sum, so (0,) is not independent.

    (1, 6, 4) is independent, (1, 6, 7) is not. There may be 40 columns.
    """
    # Task 13.2: Decide whether the columns are independent.
    raise NotImplementedError("Task 13.2: Linear layouts")


def flatten(index: Index, shape: Sequence[int]) -> int:
    """The position of an index in row-major order."""
    position = 0
    for at, size in zip(index, shape, strict=True):
        position = position * size + at
    return position


@dataclass(frozen=True)
class Layout:
    """A layout. Without axes, it is `SCALAR`: every thread holds the only element in its register 0."""

    registers: tuple[Index, ...]
    lanes: tuple[Index, ...]
    warps: tuple[Index, ...]

    def __hash__(self) -> int:
        return self.hash

    @cached_property
    def hash(self) -> int:
        return hash((self.registers, self.lanes, self.warps))

    @property
    def threads(self) -> tuple[Index, ...]:
        """The vectors for the bits of a thread's number in its program."""
        return self.lanes + self.warps

    def index(self, register: int, thread: int = 0) -> Index:
        """The index of the element in a register of a thread: (0, 7) for the example above, register 3 and thread 1.

        The low bits of a thread's number are its lane, the other bits its warp. The only index of `SCALAR` is ().
        """
        # Task 13.2: Compute the index.
        raise NotImplementedError("Task 13.2: Linear layouts")

    def first(self, register: int) -> int:
        """The first register that holds the same element."""
        return register & self.mattering

    @cached_property
    def mattering(self) -> int:
        """The bits of a register's number whose vectors are not zero."""
        return sum(1 << bit for bit, vector in enumerate(self.registers) if any(vector))

    @cached_property
    def distinct(self) -> list[int]:
        """The first register of each element that a thread holds."""
        return [register for register in range(1 << len(self.registers)) if self.first(register) == register]

    @cached_property
    def idle(self) -> int:
        """The bits of a thread's number that do not matter: threads that differ only there hold the same elements."""
        return sum(1 << bit for bit, vector in enumerate(self.threads) if not any(vector))

    def map(self, function: Callable[[Index], Index]) -> Layout:
        """The layout with a linear function of its indices."""
        parts = [tuple(map(function, part)) for part in (self.registers, self.lanes, self.warps)]
        has_axes = any(len(vector) for part in parts for vector in part)
        return Layout(*parts) if has_axes else SCALAR

    def without(self, axis: int) -> Layout:
        """The layout of a tensor without this axis."""
        return self.map(lambda vector: vector[:axis] + vector[axis + 1 :])

    def flat(self, shape: Sequence[int]) -> tuple[Columns, Columns, Columns]:
        """Registers, lanes and warps as linear functions to positions in row-major order."""
        registers, lanes, warps = (
            tuple(flatten(vector, shape) for vector in part) for part in (self.registers, self.lanes, self.warps)
        )
        return registers, lanes, warps


SCALAR = Layout((), (), ())


def blocked(shape: Sequence[int], order: Sequence[int], sizes: Mapping[int, int], warps: int) -> Layout:
    """The layout that gives a block of neighbors to each thread of a program of `warps` warps.

    Along each axis, a block has `sizes[axis]` elements, 1 if absent, but at most all elements of the axis. The blocks
    of threads 0, 1, 2, ... lie side by side along the axis that is first in `order`, then along the second, and so on.
    If the threads do not hold the whole tensor, the next blocks go to further registers of thread 0, 1, 2, ... If there
    are more threads than blocks, the last bits of a thread's number do not matter.

        blocked((16, 64), (1, 0), {1: 4}, warps=4)
            registers   (0, 1) (0, 2) (8, 0)                    blocks of four neighbors, in rows 0 to 7 and 8 to 15
            lanes       (0, 4) (0, 8) (0, 16) (0, 32) (1, 0)    16 lanes hold a row
            warps       (2, 0) (4, 0)                           a warp holds two rows

    The registers of a block are counted along the axes in `order`, too. All sizes are powers of two.
    """

    # Task 13.3: Give each bit of the index to a register, a lane or a warp.
    raise NotImplementedError("Task 13.3: Who holds what")
