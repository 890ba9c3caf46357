"""Peers whose results and times are given in advance. They record who is asked for what, in order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mini_triton.tuning.comparison import Memory, Peer, Step

from tests.support.m11_tuning.simulated import Device


@dataclass
class Scene:
    """A machine with some peers, and the story of what happens there."""

    story: list[tuple[str, str]] = field(default_factory=list)

    def peer(
        self, name: str, results: Any, times: Sequence[float] = (1.0,), steps: Sequence[Step] | None = None
    ) -> Peer:
        """A peer with these results, or this error; its times repeat."""
        asked = 0

        def solve() -> Sequence[Any]:
            self.story.append((name, "solve"))
            if isinstance(results, BaseException):
                raise results
            return results

        def time() -> float:
            nonlocal asked
            self.story.append((name, "time"))
            asked += 1
            return times[(asked - 1) % len(times)]

        def known() -> Sequence[Step]:
            self.story.append((name, "steps"))
            if isinstance(results, BaseException):
                raise results
            return steps or []

        return Peer(name, solve, time, None if steps is None else known)


class OnDevice(np.ndarray):
    """An array on a simulated device: writing to it takes the device a millisecond."""

    home: Device | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.home = getattr(source, "home", None)

    def __setitem__(self, place: Any, value: Any) -> None:
        if self.home is not None:
            self.home.queue(1.0)
        super().__setitem__(place, value)


def on_device(device: Device, values: Sequence[float]) -> OnDevice:
    """Such an array."""
    array = np.array(values, np.float64).view(OnDevice)
    array.home = device
    return array


def floats(address: int, *shape: int, strides: Sequence[int] | None = None) -> Memory:
    """The memory of an fp32 array, contiguous unless its strides are given."""
    contiguous = np.cumprod((1, *shape[:0:-1]))[::-1]
    return Memory(address, shape, tuple(int(stride) for stride in (contiguous if strides is None else strides)), 4)
