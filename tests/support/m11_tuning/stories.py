"""Compare the stories of our decorators with those of real Triton's decorators, for the same scenarios."""

import contextlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import mini_triton
from hypothesis import strategies as st
from mini_triton.tuning.autotuner import UNFIT

from tests.oracles import tuning
from tests.support.m11_tuning import scenarios
from tests.support.m11_tuning.scenarios import Scenario, Story

SEEDS = st.integers(0, 2**32 - 1)
BEFORE = 6  # events that a failure shows before the one that differs


def attempt(tuner: Any, config: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """One trial of a configuration."""
    with contextlib.suppress(*UNFIT):
        tuner.trial(config, args, kwargs)


def check(asked: Sequence[Scenario], story: str = "launches") -> None:
    """Fail unless our decorators give real Triton's story for each scenario."""
    ways: Sequence[Callable[..., None]] = [attempt] * (story == "trials")
    ours = [json.loads(json.dumps(scenarios.play(mini_triton, scenario, story, *ways))) for scenario in asked]
    for scenario, mine, theirs in zip(asked, ours, tuning.play(asked, story), strict=True):
        if not scenarios.told_alike(mine, theirs):
            raise AssertionError(difference(scenario, mine, theirs))


def difference(scenario: Scenario, ours: Story, theirs: Story) -> str:
    """The first difference between two stories."""
    place = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    before = [f"    {event}" for event in theirs[max(0, place - BEFORE) : place]]
    expected, got = ([*story, "the end"][place] for story in (theirs, ours))
    lines = ["an autotuned kernel, after", *before, f"  expected  {expected}", f"  got       {got}"]
    shown = {name: value for name, value in scenario.items() if value not in (None, [])}
    return "\n".join([*lines, "  because   real Triton's decorators do so in this scenario:", f"  {shown}"])
