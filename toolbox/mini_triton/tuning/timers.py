"""`do_bench` on the device that runs kernels. (Given.)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mini_triton.compat import driver
from mini_triton.tuning.measuring import ESTIMATES, MODES, do_bench_on, fitting, summarize

GRAPHS = 10
"""How often to run a graph of repetitions."""


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """The milliseconds that `fn` takes on the active device: `do_bench(lambda: add[grid](x, y, out, n, BLOCK=1024))`.

    `fn` runs for about `warmup` milliseconds, then for about `rep` timed milliseconds. `return_mode` selects the
    "mean", "median", "min" or "max" of the times, or "all" times as a list. With `quantiles`, the result is a list of
    quantiles.
    """
    return do_bench_on(driver.active, fn, warmup, rep, grad_to_none, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Like `do_bench`, but without the time of launches: the GPU itself repeats `fn`, with a warm cache.

    A short kernel may take less time than its launch, and then the GPU waits for launches. A graph records the launches
    in advance. A CPU does not have graphs; for a CPU, this function calls `do_bench`.
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
        runs = fitting(rep, estimate)
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
    """The milliseconds that the GPU takes for `runs` runs, back to back."""
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(runs):
        fn()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)
