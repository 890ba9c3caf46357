"""How long a function takes on a GPU, or on this machine's CPU.

A GPU works through a queue. A launch only appends to the queue and returns, so Python's clock would measure how long
appending takes. An event is also appended to the queue, and records the time at which the GPU reaches it.

Source: `do_bench` in Triton's `python/triton/testing.py`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

ESTIMATES = 5
"""The number of runs from which to estimate how long one run takes."""
UNKNOWN = 1000
"""The number of runs of a function that is too fast for the clock."""
MODES: dict[str, Callable[[Sequence[float]], Any]] = {
    **{"min": min, "max": max, "mean": statistics.mean, "median": statistics.median},
    "all": list,
}


def measure(
    device: Any, fn: Callable[[], Any], warmup: float, rep: float, grad_to_none: Sequence[Any] = ()
) -> list[float]:
    """The time of each timed run of `fn`, in milliseconds.

    Each `fn` below is a run that takes 5 ms, and `c` clears the device's cache in 2 ms. For a `warmup` of 20 ms and a
    `rep` of 34 ms, the device does this, and the result is [5.0, 5.0, 5.0, 5.0]:

        fn    c fn c fn c fn c fn c fn    fn fn    c fn c fn c fn c fn

    The second group has `ESTIMATES` runs, and decides how many runs the others have. The host never waits within a
    group. Before each timed run, the gradients of the tensors in `grad_to_none` are set to None; this is not part of
    its time.

    `device.get_device_interface()` has `Event(enable_timing=True)` and `synchronize()`, which waits until the device is
    idle. `event.record()` appends an event to the device's queue; `start.elapsed_time(end)` is the time between two
    events that the device has reached. `device.clear_cache(cache)` clears the cache by writing to `cache`, which
    `device.get_empty_cache_for_benchmark()` returns.
    """
    # Task 11.1: Why 2 and 4 runs? Given: `fitting`.
    raise NotImplementedError("Task 11.1: Measuring")


def fitting(milliseconds: float, estimate: float) -> int:
    """The number of runs that fit into this time: at least one; `UNKNOWN` for an estimate of 0. (Given.)"""
    return max(1, int(milliseconds / estimate)) if estimate else UNKNOWN


def quantile(times: Sequence[float], q: float) -> float:
    """The `q` quantile of the times. For [1.0, 2.0, 4.0], the 0.5 quantile is 2.0, and the 0.25 quantile is 1.5.

    Between two times, quantiles are interpolated linearly. Raises `ValueError` unless 0 <= q <= 1.
    """
    # Task 11.1: The 0 quantile is the shortest time, and the 1 quantile is the longest. Of five times, the 0.25
    # quantile is the second shortest.
    raise NotImplementedError("Task 11.1: Measuring")


def summarize(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """The result of `do_bench` for these times: a list of quantiles, or what `return_mode` selects. (Given.)

    A single quantile is returned as a number.
    """
    if quantiles is None:
        return MODES[return_mode](times)
    found = [quantile(times, q) for q in quantiles]
    return found[0] if len(found) == 1 else found


def do_bench_on(
    device: Any,
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """`do_bench` on a device that need not be the active one. (Given.)"""
    if not callable(fn):
        raise TypeError(f"do_bench takes a function, not {fn!r}: write do_bench(lambda: ...)")
    assert return_mode in MODES, f"return_mode is {return_mode!r}; it can be {', '.join(MODES)}"
    return summarize(measure(device, fn, warmup, rep, grad_to_none or ()), quantiles, return_mode)
