"""Which thread of a program holds each element of a tile, and in which register.

Number the elements of a tile in its order, the fastest axis first. This number is an element's *position*. Each thread
takes `vector` consecutive positions, so that one instruction can move them. All threads together take a *sweep* of
`vector * threads` positions, and the next sweep follows. With 8 threads and a vector of 2:

    position   0  1  2  3  4  5 ... 14 15   16 17 18 ...
    thread     0  0  1  1  2  2 ...  7  7    0  0  1 ...
    register   0  1  0  1  0  1 ...  0  1    2  3  2 ...

If the tile has fewer elements than a sweep, the remaining threads start again at position 0 and hold copies.

All sizes are powers of two, so each bit of an index is a bit of the thread's number or of the register's number.

Source: `BlockedEncodingAttr` and `LinearLayout` in Triton (`include/triton/Tools/LinearLayout.h`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

WARP = 32
"""Threads in a warp."""


class Place(NamedTuple):
    """Where an element is held: a thread, and one of its registers."""

    thread: int
    register: int


class Steps(NamedTuple):
    """The distances between elements along an axis, in registers and in threads. All distances are powers of two."""

    registers: list[int]
    threads: list[int]


@dataclass(frozen=True)
class Layout:
    """The elements of a tile, spread over the threads of a program."""

    shape: tuple[int, ...]
    order: tuple[int, ...]  # the axes, the fastest first
    vector: int  # consecutive elements of a thread
    threads: int  # of a program

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def sweeps(self) -> int:
        """How many vectors each thread holds."""
        return max(1, self.size // (self.vector * self.threads))

    @property
    def registers(self) -> int:
        """How many elements each thread holds."""
        return self.sweeps * self.vector

    @property
    def owners(self) -> int:
        """How many threads hold elements that no earlier thread holds."""
        return min(self.threads, self.size // self.vector)

    @property
    def fastest(self) -> int:
        """The axis of consecutive positions."""
        return next((axis for axis in self.order if self.shape[axis] > 1), 0)

    def index(self, place: Place) -> tuple[int, ...]:
        """The index of the element at `place`, which names a thread and one of its registers.

        For a tile of 4 x 8 elements in the order (1, 0), with 8 threads and vectors of 2 elements, `Place(5, 2)` is
        position 26, whose index is (3, 2).
        """
        # Task 10.6: Compute the position first, as in the table at the top of this file; if the tile has fewer
        # elements than a sweep, positions start again at 0. Then compute the index: consecutive positions are
        # neighbors along the fastest axis.
        raise NotImplementedError("Task 10.6: Threads for Numba")

    def place(self, index: Sequence[int]) -> Place:
        """The thread and the register that hold the element at `index`: the inverse of the method `index`.

        If several threads hold copies of the element, the result names the first of them.
        """
        # Task 10.6: Compute the position of the index, then split it into an offset within the vector, a thread and a
        # sweep.
        raise NotImplementedError("Task 10.6: Threads for Numba")

    def steps(self, axis: int) -> Steps:
        """The distances between elements whose indices along an axis differ in one bit, the lowest first. (Given.)

        Take a tile of 4 x 8 elements, a vector of 2, and 8 threads. Along axis 1, there is one step in registers (1),
        and there are two in threads (1 and 2). Along axis 0, there is one step in threads (4), and there is one in
        registers (2).
        """
        found = Steps([], [])
        for bit in range(self.shape[axis].bit_length() - 1):
            place = self.place([1 << bit if other == axis else 0 for other in range(len(self.shape))])
            if place.register:
                found.registers.append(place.register)
            else:
                found.threads.append(place.thread)
        return found

    def texts(self, sweep: str = "sweep") -> tuple[str, ...]:
        """For each axis, the source of the index of a vector's first element: "sweep * 8 + thread // 16". (Given.)

        Each bit of `sweep` and `thread` adds a fixed step along one axis, which `index` determines.
        """
        found: list[list[str]] = [[] for _ in self.shape]
        for name, count, place in (
            (sweep, self.sweeps, lambda bit: Place(0, bit * self.vector)),
            ("thread", self.owners, lambda bit: Place(bit, 0)),
        ):
            for axis, terms in enumerate(found):
                values = [self.index(place(1 << bit))[axis] for bit in range(count.bit_length() - 1)]
                for low, high, value in runs(values):
                    terms.append(bits_text(name, low, high, count if name == sweep else self.threads, value))
        return tuple(" + ".join(terms) or "0" for terms in found)


def runs(values: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Runs of bits whose values double from bit to bit: `(first bit, bit after the last, value of the first)`."""
    low = 0
    for bit in range(1, len(values) + 1):
        if bit == len(values) or not values[low] or values[bit] != values[low] << bit - low:
            if values[low]:
                yield low, bit, values[low]
            low = bit


def bits_text(name: str, low: int, high: int, count: int, value: int) -> str:
    """The source that extracts some bits of a number and multiplies them by a value."""
    text = f"{name} // {1 << low}" if low else name
    if 1 << high < count:
        text = f"{text} % {1 << high - low}"
    return f"{text} * {value}" if value > 1 else text


def flat(shape: Sequence[int], index: Sequence[object]) -> str:
    """The source of an element's position in row-major order."""
    terms, stride = [], 1
    for size, i in zip(reversed(shape), reversed([*map(str, index)]), strict=True):
        if i != "0":
            terms.append(f"({i}) * {stride}" if stride > 1 else i)
        stride *= size
    return " + ".join(reversed(terms)) or "0"


def indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]
