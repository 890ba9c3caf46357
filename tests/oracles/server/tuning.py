"""Real Triton's `do_bench`, on a simulated device, and its autotuner, with toy kernels. For the server."""

import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import triton
from triton.runtime import driver
from triton.testing import Benchmark, do_bench, perf_report

from tests.support.m11_tuning import benchmarks, scenarios
from tests.support.m11_tuning.simulated import Question

Answer = dict[str, Any]


def time(question: dict[str, Any]) -> Answer:
    """The result of `do_bench`, and the number of its calls to the function."""
    asked = Question(**question)
    function = asked.function()
    with mock.patch.object(driver, "_active", function.device):
        return {"result": do_bench(function, **asked.options(function)), "runs": function.runs}


def play(scenario: dict[str, Any], story: str) -> Answer:
    """A story of a scenario (see `tests.support.m11_tuning.scenarios`)."""
    return {"story": scenarios.play(triton, scenario, story, *[attempt] * (story == "trials"))}


def attempt(tuner: Any, config: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """One trial of a configuration."""
    tuner._do_bench = lambda call, quantiles: call()
    tuner._bench(*args, config=config, **kwargs)


def report(seed: int) -> Answer:
    """The calls to a function by `perf_report`, and the lines of its file. Needs pandas and matplotlib."""
    function = benchmarks.Function()
    case = benchmarks.draw(seed)
    with tempfile.TemporaryDirectory(dir=os.environ["TRITON_CACHE_DIR"]) as folder:
        perf_report(Benchmark(**case))(function).run(save_path=folder)
        return {"calls": function.calls, "lines": Path(folder, f"{case['plot_name']}.csv").read_text().splitlines()}
