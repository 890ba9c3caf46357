"""Everyone's time for a workload, taken in turns; and what a launch costs besides.

The interpreter is asked in a process of its own, the rest runs here. Before anything is timed all results must agree.
"""

from __future__ import annotations

import gc
import importlib.util
import multiprocessing
import os
import statistics
import tempfile
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import by_hand, clock, interpreter
from bench.workloads import WORKLOADS, Arguments, Workload

TURN = 0.005
"""What is faster is called many times in a turn, which takes about so many seconds."""
PATIENCE = 15.0
"""The interpreter gets no further turn when its turns have taken so many seconds."""


@dataclass(frozen=True)
class Result:
    """Seconds that a workload took, medians; the memory that our launch took besides the arguments, and theirs."""

    workload: Workload
    seconds: dict[str, float]
    memory: int
    data: int

    def ratio(self, slow: str, fast: str) -> float | None:
        """How many times faster one is than another; None if one of them did not run."""
        known = slow in self.seconds and fast in self.seconds
        return self.seconds[slow] / self.seconds[fast] if known else None


class Interpreter:
    """Triton's, in another process."""

    def __init__(self) -> None:
        self.pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=interpreter.begin)

    @staticmethod
    def is_here() -> bool:
        """Whether it is installed, and PyTorch, which it needs."""
        return all(importlib.util.find_spec(name) for name in ("triton", "torch"))

    def ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """The answer of a function of `bench.interpreter`."""
        return self.pool.submit(question, *arguments).result()

    def close(self) -> None:
        """End the process."""
        self.pool.shutdown()


def measure(workload: Workload, other: Interpreter | None, rounds: int, slow_rounds: int) -> Result:
    """Check that all agree, which warms them up. Then take turns; the interpreter has fewer."""
    contestants = {"ours": ours(workload), "numpy": numpy(workload)}
    if importlib.util.find_spec("torch"):
        contestants["torch"] = torch(workload)
    results = {name: run() for name, run in contestants.items()}
    if other:
        other.ask(interpreter.once, workload.name)
        results["interpreter"] = other.ask(interpreter.results, workload.name)
    for name, got in results.items():
        check(f"{workload.name} by {name}", got, results["numpy"], workload.tolerance)
    calls = {name: max(1, round(TURN / timed(run))) for name, run in contestants.items()}
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    slow: list[float] = []
    gc.collect()
    for number in range(rounds):
        for name, run in contestants.items():
            taken[name].append(timed(run, calls[name]))
        if other and number < slow_rounds and sum(slow) < PATIENCE:
            slow.append(other.ask(interpreter.once, workload.name))
    seconds = {name: statistics.median(times) for name, times in ({"interpreter": slow} | taken).items() if times}
    return Result(workload, seconds, memory(contestants["ours"]), workload.bytes())


def timed(run: Callable[[], Any], calls: int = 1) -> float:
    """Seconds that a call takes."""
    start = clock()
    for _ in range(calls):
        run()
    return (clock() - start) / calls


def memory(run: Callable[[], Any]) -> int:
    """The most bytes that a call holds beyond what there was before."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def check(who: str, results: Any, expected: Any, tolerance: float) -> None:
    """Fail unless results agree."""
    for got, wanted in zip(results, expected, strict=False):  # not everyone has the secondary ones
        got, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
        worst = np.abs(got - wanted).max()
        assert worst <= tolerance * np.abs(wanted).max(), f"{who} differs by {worst}"


def copied(workload: Workload) -> tuple[Arguments, tuple[np.ndarray, ...]]:
    """Arguments for one contestant, and those of them that are outputs."""
    arguments = workload.arguments()
    return arguments, tuple(arguments[name] for name in workload.outputs)


def ours(workload: Workload) -> Callable[[], Any]:
    """A launch through `mini_triton.jit`."""
    from tests.support import sources

    arguments, outputs = copied(workload)
    kernel = sources.load(workload.path.read_text(encoding="utf-8"), str(workload.path))[workload.kernel]
    launch = kernel[tuple(workload.grid)]

    def run() -> tuple[np.ndarray, ...]:
        launch(**arguments, **workload.constants)
        return outputs

    return run


def numpy(workload: Workload) -> Callable[[], Any]:
    """Plain NumPy."""
    arguments, _ = copied(workload)
    function = getattr(by_hand, workload.idea)
    return lambda: function(**arguments)


def torch(workload: Workload) -> Callable[[], Any]:
    """PyTorch on the CPU."""
    import torch

    from bench import by_torch

    arguments = {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in workload.arguments().items()
    }
    function = getattr(by_torch, workload.idea)
    return lambda: function(**arguments)


def warm_launch(turns: int = 30, calls: int = 200) -> float:
    """Seconds of a launch of one program that adds 1024 numbers, of a kernel launched before."""
    workload = next(workload for workload in WORKLOADS if workload.kernel == "add_kernel")
    arguments = workload.arguments()
    arguments |= {name: arguments[name][:1024] for name in ("x", "y", "out")} | {"n": 1024}
    from tests.support import sources

    kernel = sources.load(workload.path.read_text(encoding="utf-8"), str(workload.path))[workload.kernel]
    x, y, out = (arguments[name] for name in ("x", "y", "out"))

    def run() -> None:
        kernel[(1,)](x, y, out, 1024, BLOCK=1024)

    run()
    return statistics.median(timed(run, calls) for _ in range(turns))


def cold_compile(processes: int = 5) -> float:
    """Seconds from the text of causal attention to a kernel that can run, in processes that compile nothing else."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        return statistics.median(pool.map(compile_once, range(processes)))


def compile_once(_: int) -> float:
    """The seconds, in this process. The compiler is imported before."""
    import mini_triton.runtime.compiled_kernel  # noqa: F401

    from tests.support import sources

    workload = next(workload for workload in WORKLOADS if workload.idea == "causal_attention")
    arguments = workload.arguments()
    kernel = sources.load(workload.path.read_text(encoding="utf-8"), str(workload.path))[workload.kernel]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MINI_TRITON_CACHE_DIR"] = folder
        return timed(lambda: kernel.warmup(**arguments, **workload.constants))
