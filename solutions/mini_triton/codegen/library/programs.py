"""The programs of a launch grid that a call to generated code runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mini_triton.codegen.library.lazy import Affine, Array, rows, stored
from mini_triton.errors import CompilationError, Loc
from mini_triton.ir import device_assert
from mini_triton.ir.device_print import show
from mini_triton.ir.storage import Buffer

Grid = tuple[int, int, int]
PATIENCE = 100
"""How often loops that wait repeat before a later program runs."""
DEEPEST = 150
"""How many programs may wait at the same time. Each of them takes a few frames of Python's stack."""


@dataclass
class Schedule:
    """Runs programs that may wait for one another: one by one, in order. (Given.)

    A program that waits for a long time calls the next program as a subroutine, and continues when that program has
    ended.
    """

    run_next: Callable[[], object]  # runs the next program, if any is left
    rounds: int = 0  # of loops that wait
    waiting: int = 0  # programs on the stack that have called another program

    def wait(self) -> None:
        """Called in each round of a loop that waits."""
        self.rounds += 1
        if self.rounds % PATIENCE == 0 and self.waiting < DEEPEST:
            self.waiting += 1
            self.run_next()
            self.waiting -= 1


@dataclass(frozen=True)
class Programs:
    """The programs numbered from `first` up to, but not including, `last`. The id along axis x changes fastest."""

    grid: Grid
    first: int
    last: int
    buffers: Sequence[Buffer] = ()  # all memory that they may access
    wait: Callable[[], None] = lambda: None  # generated code calls it in each round of a loop that waits

    def __len__(self) -> int:
        return self.last - self.first

    def id(self, axis: int) -> Array:
        """`tl.program_id(axis)` of every program: `len(self)` numbers of dtype int32."""
        # [task 6.4] In a grid of (3, 2, 1), programs 2 to 4 have the ids [2, 0, 1] along axis 0, and [0, 1, 1] along
        # axis 1.
        before = int(np.prod(self.grid[:axis]))
        size = self.grid[axis]
        return (np.arange(self.first, self.last) // before % size).astype(np.int32)
        # [end]

    def count(self, axis: int) -> np.int32:
        """`tl.num_programs(axis)`."""
        return np.int32(self.grid[axis])

    def refuse(self, message: str, place: tuple[Any, ...]) -> None:
        """Raise a `CompilationError` at a location in the kernel: its file, line and column, or ()."""
        raise CompilationError(message, Loc(*place) if place else None)

    def numbers(self) -> Array:
        """The number of every program."""
        return Affine(self.first, (1,), (len(self),), np.int32)

    def memory(self, dtype: Any) -> list[Buffer]:
        """All memory, as elements of this dtype."""
        return [buffer.read_as(dtype) for buffer in self.buffers]

    def trips(self, lower: Array, upper: Array, step: Array) -> np.ndarray:
        """The number of iterations of each program: the length of `range(lower, upper, step)`. (Given.)

        The step is positive. If `upper - lower` wraps around, it is still correct when it is read as unsigned.
        """
        lower, upper, step = np.broadcast_arrays(stored(lower), stored(upper), stored(step))
        unsigned = f"u{lower.itemsize}"
        distance = (upper - lower).view(unsigned)
        return np.where(lower < upper, (distance - 1) // step.view(unsigned) + 1, 0)

    def loop(self) -> Loop:
        """A loop that these programs enter. (Given.)"""
        return Loop(self)

    def show(self, attributes: Mapping[str, Any], values: Sequence[Array], active: np.ndarray | None) -> None:
        """`tl.device_print` for the active programs, one by one. The values have a program axis. (Given.)"""
        arrays = [np.asarray(stored(value)) for value in values]
        for lane in range(len(self)) if active is None else np.flatnonzero(active):
            show(self.place(int(lane)), attributes, [array[lane] for array in arrays])

    def check(self, condition: Array, message: str, active: np.ndarray | None) -> None:
        """`tl.device_assert` for the active programs. The condition has a program axis. (Given.)"""
        rank = condition.ndim - 1
        lanes = True if active is None else active.reshape(-1, *[1] * rank)
        device_assert.check(stored(condition), message, rank, lanes)

    def place(self, lane: int) -> Grid:
        """The ids of one program, as numbers of Python, as messages show them."""
        x, y, _ = map(int, self.grid)
        number = self.first + lane
        return number % x, number // x % y, number // (x * y)


class LazyPrograms(Programs):
    """Programs whose ids are lazy: consecutive numbers, a single number, or numbers with known bounds."""

    def id(self, axis: int) -> Array:
        before, size = math.prod(self.grid[:axis]), self.grid[axis]
        first, last = self.first // before, (self.last - 1) // before
        if first == last or before == 1 and first // size == last // size:
            return Affine(first % size, (int(first != last),), (len(self),), np.int32)
        return Affine(super().id(axis).astype(np.int64), (0,), (len(self),), np.int32)


@dataclass(frozen=True, kw_only=True)
class Chosen(Programs):
    """A subset of the programs in `everyone`, selected by their positions."""

    everyone: Programs
    places: np.ndarray

    def id(self, axis: int) -> Array:
        return rows(self.everyone.id(axis), self.places)

    def numbers(self) -> Array:
        return rows(self.everyone.numbers(), self.places)

    def place(self, lane: int) -> Grid:
        return self.everyone.place(int(self.places[lane]))


class Loop:
    """The programs still in a loop, and the results of the programs that have left."""

    def __init__(self, everyone: Programs) -> None:
        self.everyone = everyone
        self.places = np.arange(len(everyone))  # of the programs still in the loop
        self.results: list[Array] = []

    def go_on(self, stays: np.ndarray, carried: Sequence[Array], *others: Array) -> tuple[Any, ...]:
        """Remove the programs that do not stay. Their carried values become their results.

        Returns the remaining programs, their number, and their rows of each array, carried or not.
        """
        if not self.results and len(self.places) == len(self.everyone) and not stays.any():
            self.results = list(carried)
            return self.everyone, 0, *carried, *others
        self.results = self.results or [np.zeros((len(self.everyone), *x.shape[1:]), x.dtype) for x in carried]
        (gone,), (chosen,) = (~stays).nonzero(), stays.nonzero()
        places = self.places[gone]
        for result, array in zip(self.results, carried, strict=bool(carried)):
            result[places] = stored(array)[gone]
        self.places = self.places[chosen]
        of, last = self.everyone, len(chosen)
        programs = Chosen(of.grid, 0, last, of.buffers, of.wait, everyone=of, places=self.places)
        return programs, len(chosen), *(rows(array, chosen) for array in (*carried, *others))

    def end(self) -> tuple[Any, ...]:
        """All programs, their number, and the results."""
        return self.everyone, len(self.everyone), *self.results
