"""Task 11.3: configurations that are not tried, and values that need no trial."""

from typing import Any

import mini_triton as triton
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.errors import AutotunerError
from mini_triton.tuning.autotuner import Autotuner, Config, Heuristics

from tests.checks import described, one_in
from tests.support.m11_tuning import scenarios, stories


class Toy:
    """Stands for a kernel: returns the arguments of its launch."""

    arg_names = ["x", "n", "BLOCK"]

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return args, kwargs


def pruned(blocks: list[int], kwargs: dict[str, Any] | None = None, **hooks: Any) -> described:
    """The call of `prune_configs` for configurations with these blocks."""
    configs = [Config({"BLOCK": block}) for block in blocks]
    tuner = Autotuner(Toy(), Toy.arg_names, configs, [], None, None, prune_configs_by=hooks)
    tuner.nargs = {"x": "memory", "n": 100}
    given = ", ".join(f"{name}={'a function' if callable(hook) else repr(hook)}" for name, hook in hooks.items())
    words = f"tuner.prune_configs({kwargs or {}}) of configurations with BLOCK {blocks} and {given or 'no hooks'}"
    blocks_of = lambda: [config.kwargs["BLOCK"] for config in tuner.prune_configs(kwargs or {})]  # noqa: E731
    return described(words, blocks_of)


def test_without_hooks() -> None:
    pruned([16, 32, 64]).returns([16, 32, 64])
    pruned([16, 32, 64], top_k=1).returns([16, 32, 64], because="top_k applies to the estimates of a perf_model")
    pruned([16, 32, 64], top_k="2").returns([16, 32, 64], because="without a perf_model, top_k is ignored")


def test_early() -> None:
    seen: list[Any] = []

    def early(configs: Any, named: Any, **kwargs: Any) -> Any:
        seen.append((len(configs), dict(named), kwargs))
        return [config for config in configs if config.kwargs["BLOCK"] > 16]

    call = pruned([16, 32, 64], {"flag": True}, early_config_prune=early)
    call.returns([32, 64])
    assert seen == [(3, {"x": "memory", "n": 100}, {"flag": True})], (
        f"early_config_prune(configs, named_arguments, **kwargs) is called once\n"
        f"  expected  3 configurations, {{'x': 'memory', 'n': 100}}, flag=True\n"
        f"  got       {seen}"
    )


def test_no_configuration_is_left() -> None:
    call = pruned([16, 32], early_config_prune=lambda configs, named: [])
    call.raises(AutotunerError, because="a tuner needs at least one configuration")


@given(st.permutations([1, 2, 3, 4, 5]), st.integers(1, 6))
@example([3, 1, 2, 5, 4], 2)
def test_estimates(estimates: list[int], top: int) -> None:
    blocks = [16, 32, 64, 128, 256]
    table = dict(zip(blocks, estimates, strict=True))
    call = pruned(blocks, perf_model=lambda BLOCK, **_: table[BLOCK], top_k=top)
    expected = blocks if top >= 5 else sorted(blocks, key=lambda block: table[block])[:top]
    call.returns(expected, because=f"estimates are {table}; if there are at most top_k, all stay, in their order")


def test_what_a_model_gets() -> None:
    seen: list[Any] = []

    def model(**given: Any) -> float:
        seen.append(given)
        return 1.0

    pruned([16, 32, 64], {"flag": True}, perf_model=model, top_k=2).returns([16, 32])
    options = {"num_warps": 4, "num_ctas": 1, "num_stages": 3}
    expected = [{"x": "memory", "n": 100, "flag": True, "BLOCK": block} | options for block in (16, 32, 64)]
    assert seen == expected, f"perf_model gets all arguments, as keywords\n  expected  {expected}\n  got       {seen}"


@pytest.mark.parametrize(("share", "left"), [(1.0, 4), (0.9, 3), (0.5, 2), (0.6, 2), (0.3, 1), (0.1, 1)])
def test_shares(share: float, left: int) -> None:
    call = pruned([1, 2, 4, 8], perf_model=lambda BLOCK, **_: -BLOCK, top_k=share)
    expected = [1, 2, 4, 8] if left == 4 else [8, 4, 2, 1][:left]
    call.returns(expected, because=f"{share} of 4 configurations, rounded down, but at least one")


def test_a_share_is_of_all_configurations() -> None:
    early = lambda configs, named: configs[:3]  # noqa: E731
    call = pruned([1, 2, 4, 8], early_config_prune=early, perf_model=lambda BLOCK, **_: -BLOCK, top_k=0.5)
    call.returns([4, 2], because="half of all four configurations are two, even if one was pruned before")


def test_valid_values_of_top_k() -> None:
    for blocks, top in (*(([1, 2, 4], top) for top in (1.5, "2", None, 0, -1, -0.5)), ([1], "2")):
        call = pruned(blocks, perf_model=lambda BLOCK, **_: BLOCK, top_k=top)
        call.raises(TypeError, "top_k", because="top_k is an int of at least 1, or a float from 0.0 to 1.0")
    pruned([1, 2, 4], perf_model=lambda BLOCK, **_: BLOCK, top_k=1).returns(
        [1], because="1 is a number of configurations"
    )


@one_in(2)
@given(st.lists(stories.SEEDS, min_size=1, max_size=5))
def test_pruning_is_as_in_real_triton(seeds: list[int]) -> None:
    stories.check([scenarios.draw(seed) for seed in seeds], "prunings")


# --- heuristics


def launched(values: dict[str, Any], *args: Any, **kwargs: Any) -> described:
    """A launch of a kernel with heuristics."""
    kernel = Heuristics(Toy(), Toy.arg_names, values)
    words = f"a launch with {args} and {kwargs} of a kernel whose {', '.join(values)} are computed"
    return described(words, kernel.run, *args, **kwargs)


def test_computed_values() -> None:
    launched({"BLOCK": lambda args: 2 * args["n"]}, "memory", 100).returns((("memory", 100), {"BLOCK": 200}))
    launched({"BLOCK": lambda args: 2 * args["n"]}, "memory", n=100).returns((("memory",), {"n": 100, "BLOCK": 200}))


def test_each_sees_those_before_it() -> None:
    values = {"BLOCK": lambda args: args["n"] + 1, "EVEN": lambda args: args["BLOCK"] % 2 == 0}
    launched(values, "memory", 99).returns((("memory", 99), {"BLOCK": 100, "EVEN": True}))
    values = {"WIDE": lambda args: args["n"] > 10, "BLOCK": lambda args: 64 if args["WIDE"] else 16}
    launched(values, "memory", 99).returns((("memory", 99), {"WIDE": True, "BLOCK": 64}))


def test_a_computed_value_wins() -> None:
    launched({"BLOCK": lambda args: args["BLOCK"] * 2}, "memory", 5, BLOCK=16).returns((("memory", 5), {"BLOCK": 32}))


def test_launches_do_not_disturb_each_other() -> None:
    kernel = triton.heuristics({"BLOCK": lambda args: args.get("BLOCK", 0) + args["n"]})(Toy())
    first, second = (described("kernel[(1,)]('memory', 5)", kernel[(1,)], "memory", 5) for _ in range(2))
    for call in (first, second):
        call.returns((("memory", 5), {"grid": (1,), "warmup": False, "BLOCK": 5}))


@one_in(2)
@given(st.lists(stories.SEEDS, min_size=1, max_size=5))
def test_heuristics_are_as_in_real_triton(seeds: list[int]) -> None:
    drawn = [scenarios.draw(seed) | {"decorators": ["outer", "inner"]} for seed in seeds]
    for scenario in drawn:
        scenario["launches"] = [launch | {"extra": launch["extra"] | {"BLOCK": 16}} for launch in scenario["launches"]]
        scenario["fates"] = {"16 4": [{"time": 1.0, "error": ""}] * len(scenarios.SIZES)}
    stories.check(drawn)
