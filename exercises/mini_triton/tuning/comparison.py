"""Who is faster, and why? Peers solve the same problem: first their results are compared, then their times.

A *peer* is anyone who can solve the problem: your compiler, real Triton, PyTorch. A wrong peer is refused: a fast wrong
result is worth nothing. What a peer does besides computing explains most of its time: it moves bytes and launches
kernels.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mini_triton.tuning.closeness import assert_close
from mini_triton.tuning.measuring import measure, quantile
from mini_triton.tuning.memory import copies_in, copy_of, put_back

TURNS = 3


@dataclass(frozen=True)
class Call:
    """A call to check and to time."""

    run: Callable[[], Any]
    memory: Sequence[Any] = ()  # arrays that a run may change


class Memory(NamedTuple):
    """The memory of an array. Two equal ones are the same memory."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements; 0 along an axis on which all elements are one and the same
    itemsize: int  # bytes of an element


@dataclass(frozen=True)
class Step:
    """One launch of a kernel, or one operator of PyTorch. An array may be listed several times."""

    name: str
    reads: Sequence[Memory]
    writes: Sequence[Memory]


class Traffic(NamedTuple):
    """What a call does besides computing."""

    launches: int
    bytes: int


@dataclass(frozen=True)
class Peer:
    """Someone who solves a problem. Every method draws new inputs, which are equal for all peers."""

    name: str
    solve: Callable[[], Sequence[Any]]  # all results
    time: Callable[[], float]  # milliseconds
    steps: Callable[[], Sequence[Step]] | None = None  # None if nobody can see them


@dataclass(frozen=True)
class Row:
    """A problem in the table. All mappings are by the names of peers."""

    problem: str
    times: Mapping[str, float]  # milliseconds, of peers that are right
    traffic: Mapping[str, Traffic] = field(default_factory=dict)  # of peers that are right and whose steps are known
    refused: Mapping[str, str] = field(default_factory=dict)  # why a peer is not timed


class Preparing:
    """A device that calls `prepare` whenever it is asked to clear its cache, and then clears it. (Given.)"""

    def __init__(self, device: Any, prepare: Callable[[], Any]) -> None:
        self.device, self.prepare = device, prepare

    def __getattr__(self, name: str) -> Any:
        return getattr(self.device, name)

    def clear_cache(self, cache: Any) -> None:
        self.prepare()
        self.device.clear_cache(cache)


# --- one call


def solve(call: Call) -> list[Any]:
    """The results of one run: copies of what `call.run` returns, then copies of `call.memory` after the run.

    What a run returns may be an array, a number, None, or a tuple of these. Afterwards, `call.memory` is as before,
    even if the run raises an error.
    """
    # Task 11.8: Given: `tuning/memory.py`.
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")


def median_time(device: Any, call: Call, warmup: float = 25, rep: float = 100) -> float:
    """The median of the times of `measure` (11.1), in milliseconds.

    Each timed run finds `call.memory` as it was before the first run. The time that this takes is not part of any run's
    time. Afterwards, `call.memory` is as before.
    """
    # Task 11.8: `measure` takes the device as an argument.
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")


def footprint(memory: Memory) -> int:
    """The bytes that hold the elements of an array. Elements that share a place count once.

    Elements share a place only along axes with the stride 0.

        Memory(address, shape=(3, 4), strides=(4, 1), itemsize=4)    48        Memory(address, (), (), 8)         8
        Memory(address, shape=(3, 4), strides=(0, 1), itemsize=4)    16        Memory(address, (0,), (0,), 8)     0
    """
    # Task 11.8: Return the bytes.
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")


def traffic(steps: Sequence[Step]) -> Traffic:
    """The number of steps, and the bytes that they move between memory and the chip, at least.

    A step keeps what it has read until it ends, and no longer. If x and y take 400 bytes each:

        y = x + x    reads [x, x], writes [y]    800            x += 1    reads [x], writes [x]      800
        y = x        reads [x], writes [y]       800            y = 0     reads [], writes [y, y]    400
    """
    # Task 11.8: Return both numbers.
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")


# --- all peers


def compare(problem: str, peers: Sequence[Peer], turns: int = TURNS, close: Callable[..., Any] = assert_close) -> Row:
    """Check all peers, then time those that are right.

    The first peer is the judge: a peer is right if it has as many results as the judge, and `close(result, expected,
    err_msg="result 0")` accepts the first, and so on; otherwise, `close` raises an error whose message contains
    `err_msg`. A peer is refused if it is wrong, or if its `solve` raises an error. These are three reasons:

        AssertionError: … result 1 …      ValueError: 3 results instead of 2      ZeroDivisionError: division by zero

    An error of the judge propagates, and so does Ctrl-C. The speed of a machine changes while it works. If there are
    three peers, the third is wrong, and `turns` is 2, the order of the calls is

        judge.solve, ours.solve, wrong.solve, judge.time, ours.time, judge.time, ours.time

    The time of a peer is the median of its turns.
    """
    # Task 11.8: Return the row.
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")


def gain(row: Row, peer: str, ours: str = "ours") -> float | None:
    """How many times as fast as a peer we are: 2.0 if the peer takes twice as long; None if one of both has no time."""
    # Task 11.8: `row.times` holds milliseconds.
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")


def mean_gain(rows: Sequence[Row], peer: str, ours: str = "ours") -> float | None:
    """The mean of a peer's gains, over all rows that have one; None if none has.

    Twice as fast and half as fast make 1.0, and it does not matter whose time is the divisor: the mean of the inverse
    gains is the inverse of this mean.
    """
    # Task 11.8: Which mean has this property?
    raise NotImplementedError("Task 11.8: A benchmark of all kernels")
