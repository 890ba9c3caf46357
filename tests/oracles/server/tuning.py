"""Real Triton's `do_bench`, on a simulated device, and its autotuner, with toy kernels. For the server."""

from __future__ import annotations

from typing import Any
from unittest import mock

import triton
from triton.runtime import driver
from triton.testing import do_bench

from tests.support.m11_tuning import scenarios
from tests.support.m11_tuning.simulated import Question

Answer = dict[str, Any]


def time(question: dict[str, Any]) -> Answer:
    """What `do_bench` returns, and how often it called the function."""
    asked = Question(**question)
    function = asked.function()
    with mock.patch.object(driver, "_active", function.device):
        return {"result": do_bench(function, **asked.options(function)), "runs": function.runs}


def play(scenario: dict[str, Any]) -> Answer:
    """What becomes of a scenario: see there."""
    return {"story": scenarios.play(triton, scenario)}
