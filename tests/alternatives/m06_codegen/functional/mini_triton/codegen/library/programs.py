"""Which programs of a launch grid a call of generated code runs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mini_triton.codegen.library.buffers import Buffer
from mini_triton.codegen.library.lazy import Affine, Array

Grid = tuple[int, int, int]


@dataclass(frozen=True)
class Programs:
    """Those with the numbers from `first` up to, not including, `last`. Axis x runs fastest."""

    grid: Grid
    first: int
    last: int
    buffers: Sequence[Buffer] = ()  # all the memory that there is for them

    def __len__(self) -> int:
        return self.last - self.first

    def id(self, axis: int) -> Array:
        """`tl.program_id(axis)` of every program: `len(self)` numbers of dtype int32."""
        numbers = functools.reduce(np.floor_divide, self.grid[:axis], np.arange(self.first, self.last))
        return np.remainder(numbers, self.grid[axis]).astype(np.int32)

    def count(self, axis: int) -> np.int32:
        """`tl.num_programs(axis)`."""
        return np.int32(self.grid[axis])

    def memory(self, dtype: Any) -> list[Buffer]:
        """All memory, as elements of this dtype."""
        return [buffer.read_as(dtype) for buffer in self.buffers]

    def place(self, lane: int) -> Grid:
        """The program ids of one of them."""
        x, y, _ = self.grid
        number = self.first + lane
        return number % x, number // x % y, number // (x * y)


class LazyPrograms(Programs):
    """Programs that do not store their ids, if these are numbers one after the other, or all the same."""

    def id(self, axis: int) -> Array:
        before, size = int(np.prod(self.grid[:axis])), self.grid[axis]
        first, last = self.first // before, (self.last - 1) // before
        if first == last or before == 1 and first // size == last // size:
            return Affine(first % size, (int(first != last),), (len(self),), np.int32)
        return super().id(axis)


class OneProgram(Programs):
    """A single program, whose ids are plain numbers."""

    def id(self, axis: int) -> np.int32:
        return np.int32(self.place(0)[axis])
