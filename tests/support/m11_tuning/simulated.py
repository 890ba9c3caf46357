"""A simulated device: a host's clock, a queue, and a cache. Real Triton can also measure times with it.

A launch returns as soon as it is in the queue; the device works through the queue at its own pace. Times are wrong if a
measurement reads a clock of the host, does not clear the cache, waits between two runs, or counts a run that compiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

LAUNCH, FLUSH, COMPILE = 0.25, 0.5, 64.0
"""Milliseconds that the host needs for a launch, the device to clear its cache, and the host for the first launch.

All times are multiples of a power of two: sums are exact, in whatever order."""


class Event:
    """A point in the device's time."""

    def __init__(self, device: "Device") -> None:
        self.device = device
        self.moment: float | None = None

    def record(self) -> None:
        self.device.queue(0.0)
        self.moment = self.device.free

    def elapsed_time(self, end: Self) -> float:
        if self.moment is None or end.moment is None:
            raise RuntimeError("both events must be recorded before the time between them is asked for")
        if max(self.moment, end.moment) > self.device.now:
            raise RuntimeError("the device has not reached both events yet: synchronize first")
        return end.moment - self.moment


class Device:
    """A driver, and the interface of its device."""

    def __init__(self, flush: float = FLUSH, launch: float = LAUNCH) -> None:
        self.flush, self.launch = flush, launch
        self.launches = 0
        self.waits: list[int] = []  # the number of launches before each `synchronize()`
        self.now = 0.0  # the host's time
        self.free = 0.0  # the time at which the device's queue is empty
        self.cold = True
        self.cleared: list[int] = []  # the number of launches before each `clear_cache`
        self.token = object()

    def queue(self, milliseconds: float) -> None:
        """Add work of this duration to the end of the device's queue."""
        self.free = max(self.now, self.free) + milliseconds

    def get_device_interface(self) -> Self:
        return self

    def get_empty_cache_for_benchmark(self) -> object:
        return self.token

    def clear_cache(self, cache: object) -> None:
        assert cache is self.token, "clear_cache must get the cache that get_empty_cache_for_benchmark returned"
        self.queue(self.flush)
        self.cold = True
        self.cleared.append(self.launches)

    def Event(self, enable_timing: bool = False) -> Event:  # noqa: N802
        assert enable_timing, "events that measure must be made by Event(enable_timing=True)"
        return Event(self)

    def synchronize(self) -> None:
        self.waits.append(self.launches)
        self.now = max(self.now, self.free)


@dataclass
class Function:
    """A function to time: each run takes the next of the given times on the device, and longer with a cold cache."""

    device: Device
    times: Sequence[float]
    cold: float
    gradients: Sequence[Any] = ()
    accumulate: float = 0.0  # the time of adding to a gradient
    runs: int = 0

    def __call__(self) -> None:
        device = self.device
        device.launches += 1
        device.now += device.launch if self.runs else COMPILE
        taken = self.times[self.runs % len(self.times)] + (self.cold if device.cold else 0.0)
        for tensor in self.gradients:
            taken += 0.0 if tensor.grad is None else self.accumulate
            tensor.grad = 1.0
        device.queue(taken)
        device.cold = False
        self.runs += 1


class Tensor:
    """A value with a gradient."""

    grad: Any = None


@dataclass(frozen=True)
class Question:
    """A function to time, and the options of the measurement, as plain data."""

    times: Sequence[float]
    cold: float = 0.0
    warmup: float = 25.0
    rep: float = 100.0
    gradients: int = 0
    accumulate: float = 0.0
    quantiles: Sequence[float] | None = None
    return_mode: str = "all"

    def function(self) -> Function:
        return Function(Device(), self.times, self.cold, [Tensor() for _ in range(self.gradients)], self.accumulate)

    def options(self, function: Function) -> dict[str, Any]:
        known = {"warmup": self.warmup, "rep": self.rep, "grad_to_none": function.gradients or None}
        return known | {"quantiles": self.quantiles, "return_mode": self.return_mode}
