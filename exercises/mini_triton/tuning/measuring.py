"""How long a function takes: the time of a GPU, or of this machine's CPU.

A GPU works through a queue. A launch only appends to it and returns, so a clock of Python's measures how long it takes
to append. Events are appended as well, and keep the moment at which the GPU comes to them.

Source: `do_bench` in Triton's `python/triton/testing.py`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from mini_triton.given import driver

ESTIMATES = 5
"""Runs from which it is estimated how often to repeat."""
UNKNOWN = 1000
"""Repetitions of a function that is too fast for the clock."""
GRAPHS = 10
"""Times that a graph of repetitions is run."""
MODES: dict[str, Callable[[Sequence[float]], Any]] = {
    **{"min": min, "max": max, "mean": statistics.mean, "median": statistics.median},
    "all": list,
}


def measure(
    device: Any, fn: Callable[[], Any], warmup: float, rep: float, grad_to_none: Sequence[Any] = ()
) -> list[float]:
    """The milliseconds of each timed run of `fn`.

    After one run that is not counted, `ESTIMATES` runs, together between two events, estimate the time of one. So many
    runs as fit `warmup` milliseconds warm up, and so many as fit `rep` are timed: at least one each, and `UNKNOWN` if
    the estimate is 0. The timed function finds the device's cache cleared, and the tensors in `grad_to_none` without a
    gradient. The runs that make the estimate find the cache cleared as well.

    `device.get_device_interface()` has `Event(enable_timing=True)` and `synchronize()`, which waits until the device is
    idle. `event.record()` appends an event to the device's queue; `start.elapsed_time(end)` is the time between two
    events that the device has reached. `device.clear_cache(cache)` clears the cache by writing to `cache`, which
    `device.get_empty_cache_for_benchmark()` returns.
    """
    # Task 11.1: While runs are timed, nothing may wait for the device: its queue must never run empty.
    raise NotImplementedError("Task 11.1: Measuring")


def quantile(times: Sequence[float], q: float) -> float:
    """The time below which the share `q` of the times is: 0.5 of [1.0, 2.0, 4.0] is 2.0, 0.25 of them is 1.5.

    Between two times it is interpolated linearly. Raises `ValueError` unless 0 <= q <= 1.
    """
    # Task 11.1: Sorted times are at 0, 1, 2, …, and the quantile is the value at `q * (len(times) - 1)`.
    raise NotImplementedError("Task 11.1: Measuring")


def summarize(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """The result of `do_bench` for these times: a list of their quantiles, or a number as `return_mode` says. (Given.)

    For a single quantile it is a number.
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
    assert return_mode in MODES, f"return_mode is {return_mode!r}; it can be {', '.join(MODES)}"
    return summarize(measure(device, fn, warmup, rep, grad_to_none or ()), quantiles, return_mode)


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The milliseconds that `fn` takes on the active device: `do_bench(lambda: add[grid](x, y, out, n, BLOCK=1024))`.

    It is called for about `warmup` milliseconds, then for about `rep`, which are timed. The result is the "mean",
    "median", "min" or "max" of the times, or with "all" a list of them; with `quantiles` a list of these. (Given.)
    """
    return do_bench_on(driver.active, fn, warmup, rep, grad_to_none, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The same without the time that launches take: the GPU itself repeats `fn`, with a cache that is warm. (Given.)

    Launches of a short kernel may take longer than the kernel, and then the GPU waits for them. In a graph they were
    recorded before. A CPU has no graphs: there it is `do_bench`.
    """
    if driver.active.get_current_target().backend != "cuda":
        return do_bench(fn, rep, rep, grad_to_none, quantiles, return_mode)
    import torch

    assert return_mode in MODES, f"return_mode is {return_mode!r}; it can be {', '.join(MODES)}"
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        for tensor in grad_to_none or ():
            tensor.detach_().requires_grad_(True).grad = None
        estimate = _time_between(ESTIMATES, fn) / ESTIMATES
        runs = max(1, int(rep / estimate)) if estimate else UNKNOWN
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(runs):
                for tensor in grad_to_none or ():
                    tensor.grad = None
                fn()
        torch.cuda.synchronize()
        times = [_time_between(1, graph.replay) / runs for _ in range(GRAPHS)]
    return summarize(times, quantiles, return_mode)


def _time_between(runs: int, fn: Callable[[], Any]) -> float:
    """The milliseconds that the GPU takes for some runs, one right after the other."""
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(runs):
        fn()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)
