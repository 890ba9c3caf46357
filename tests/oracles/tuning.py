"""Real Triton's `do_bench` and autotuner as judges."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from tests.oracles import triton
from tests.support.m11_tuning.simulated import Question

SECONDS = 60.0


def time(questions: Sequence[Question]) -> list[tuple[Any, int]]:
    """The result of real Triton's `do_bench` on the simulated device, and the number of calls."""
    requests = [{"do": "tuning.time", "question": dataclasses.asdict(question)} for question in questions]
    return [(answer["result"], answer["runs"]) for answer in triton.insist_on("frontend", requests, SECONDS)]


def play(scenarios: Sequence[dict[str, Any]], story: str = "launches") -> list[Any]:
    """Stories of scenarios with real Triton's decorators."""
    requests = [{"do": "tuning.play", "scenario": scenario, "story": story} for scenario in scenarios]
    return [answer["story"] for answer in triton.insist_on("frontend", requests, SECONDS)]
