"""Task 11.4: the fastest configuration is found once, and launched from then on."""

import contextlib
import io
import os
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.errors import AutotunerError, OutOfResources
from mini_triton.tuning.autotuner import NEVER, QUANTILES, Autotuner, Config

from tests.checks import described, one_in
from tests.oracles import pytorch as torch
from tests.support.m11_tuning import scenarios, stories
from tests.support.sources import load


class Toy:
    """Stands for a kernel whose configurations take these milliseconds, or fail."""

    __name__ = "toy"
    arg_names = ["x", "n", "flag", "BLOCK"]

    def __init__(self, times: dict[int, Any]) -> None:
        self.times = times
        self.launched: list[int] = []
        self.asked: list[Any] = []

    def run(self, *args: Any, BLOCK: int, **kwargs: Any) -> str:
        self.launched.append(BLOCK)
        if isinstance(self.times[BLOCK], Exception):
            raise self.times[BLOCK]
        return f"launched with {BLOCK}"

    def bench(self, call: Any, *, quantiles: Sequence[float]) -> list[float]:
        self.asked.append(tuple(quantiles))
        call()
        time = self.times[self.launched[-1]]
        return [time, time, time]

    def tuner(self, key: Sequence[str] = ("n",), **options: Any) -> Autotuner:
        configs = [Config({"BLOCK": block}) for block in self.times]
        return Autotuner(self, self.arg_names, configs, key, None, None, do_bench=self.bench, **options)


SHARED = OutOfResources(300000, 232448, "shared memory")


def started(tuner: Autotuner, *args: Any, **kwargs: Any) -> described:
    """A launch of a tuner."""
    times = {f"BLOCK {block}": str(time) for block, time in tuner.fn.times.items()}
    words = f"kernel[(1,)]{args}, which is tuned for {tuner.keys}, with configurations that take {times}"
    return described(words, tuner[(1,)], *args, **kwargs)


# --- the key


def key(tuner: Autotuner, **arguments: Any) -> described:
    words = f"tuner.key_of({arguments}) with key={tuner.keys} and the parameters {tuner.arg_names}"
    return described(words, tuner.key_of, arguments)


def test_the_key_has_values_and_dtypes() -> None:
    array = np.zeros(3, np.float16)
    key(Toy({16: 1}).tuner(["n"]), x=array, n=100).returns((100, "float16", "cpu"))
    key(Toy({16: 1}).tuner(["flag", "n"]), x=array, n=100, flag=True).returns((True, 100, "float16", "cpu"))
    key(Toy({16: 1}).tuner([]), x=torch.zeros(3), n=100).returns(("torch.float32", "cpu"))


@pytest.mark.filterwarnings("ignore:autotune ignores names in key")
def test_only_parameters_count() -> None:
    array = np.zeros(3, np.int8)
    call = key(Toy({16: 1}).tuner(["n", "num_warps", "m"]), x=array, n=5, num_warps=8, out=np.zeros(2), grid=(1,))
    call.returns((5, "int8", "cpu"), because="options, the grid and m are not parameters of the kernel")


def test_the_order_of_keywords_does_not_change_the_key() -> None:
    tuner = Toy({16: 1}).tuner(["n"])
    tuner.arg_names = ["x", "y", "n", "BLOCK"]
    small, large = np.zeros(3, np.float16), np.zeros(3, np.float64)
    key(tuner, x=small, y=large, n=5).returns((5, "float16", "float64", "cpu"))
    because = "dtypes are in the order of the kernel's parameters"
    key(tuner, n=5, y=large, x=small).returns((5, "float16", "float64", "cpu"), because=because)
    key(tuner, n=5, y=small, x=small).returns((5, "float16", "float16", "cpu"), because="x and y both have a dtype")


def test_the_key_knows_the_device() -> None:
    class OnGpu:
        dtype, is_cuda = "torch.float32", True

    key(Toy({16: 1}).tuner(["n"]), x=OnGpu(), n=5).returns((5, "torch.float32", "cuda"))
    key(Toy({16: 1}).tuner(["n"]), x=np.zeros(2), n=5, backend="numba").returns((5, "float64", "cpu, numba"))


# --- one configuration


def test_the_times_of_a_configuration() -> None:
    toy = Toy({16: 3.0})
    tuner = toy.tuner()
    call = described("tuner.time(Config({'BLOCK': 16}), (1, 2), {})", tuner.time, tuner.configs[0], (1, 2), {})
    call.returns([3.0, 3.0, 3.0], because="the benchmark returns these times")
    assert toy.asked == [QUANTILES], f"the benchmark is asked once, with quantiles={QUANTILES}, not {toy.asked}"


def test_a_configuration_that_does_not_fit() -> None:
    tuner = Toy({16: SHARED}).tuner()
    call = described(
        "tuner.time of a configuration that needs too much shared memory", tuner.time, tuner.configs[0], (1, 2), {}
    )
    call.returns(NEVER)
    assert tuner.failures == {tuner.configs[0]: SHARED}, f"tuner.failures should have the error, not {tuner.failures}"


def test_errors_of_the_kernel_are_raised() -> None:
    tuner = Toy({16: ZeroDivisionError("in the kernel")}).tuner()
    call = described("tuner.time of a kernel that is wrong", tuner.time, tuner.configs[0], (1, 2), {})
    call.raises(ZeroDivisionError, because="the error is the kernel's own, so it concerns every configuration")


def test_conflicts() -> None:
    tuner = Toy({16: 1.0}).tuner()
    config, given = Config({"BLOCK": 16, "GROUP": 4}), {"BLOCK": 8, "GROUP": 4}
    call = described(
        "tuner.time(Config({'BLOCK': 16, 'GROUP': 4}), (1, 2), {'BLOCK': 8, 'GROUP': 4})",
        *(tuner.time, config, (1, 2), given),
    )
    call.raises(ValueError, "BLOCK", "GROUP", because="the values come from either the tuner or the launch")


# --- the choice


@given(st.lists(st.integers(1, 4), min_size=2, max_size=6))
@example([2, 1, 1])
def test_the_fastest(times: list[int]) -> None:
    toy = Toy({2**i: float(time) for i, time in enumerate(times)})
    fastest = 2 ** times.index(min(times))
    tuner = toy.tuner()
    call = started(tuner, "memory", 100)
    call.returns(f"launched with {fastest}", because="it is the first of the fastest configurations")
    assert toy.launched == [*toy.times, fastest], (
        f"{call}\n  should try each configuration once, then launch the fastest; got {toy.launched}"
    )
    assert tuner.best_config is not None and tuner.best_config.kwargs == {"BLOCK": fastest}
    assert [times[0] for times in tuner.configs_timings.values()] == list(map(float, times)), tuner.configs_timings


def test_the_first_quantile_decides() -> None:
    toy = Toy({16: 2.0, 32: 1.0, 64: 1.0})
    tuner = toy.tuner()
    lower = {16: 0.1, 32: 0.5, 64: 0.25}

    def bench(call: Any, quantiles: Any) -> list[float]:
        call()
        return [toy.times[toy.launched[-1]], lower[toy.launched[-1]], 3.0]

    tuner.bench = bench
    call = started(tuner, "memory", 100)
    call.returns("launched with 32", because="32 and 64 have equal medians; other quantiles do not decide")


def test_once_for_each_key() -> None:
    toy = Toy({16: 2.0, 32: 1.0})
    tuner = toy.tuner(["n"])
    for n, expected in ((100, [16, 32, 32]), (100, [32]), (200, [16, 32, 32]), (100, [32]), (200, [32])):
        toy.launched.clear()
        call = started(tuner, "memory", n)
        call.returns("launched with 32")
        if toy.launched != expected:
            call.fail(f"launches with {expected}", f"launches with {toy.launched}", "the choice for a key is kept")


def test_choices_differ_between_keys() -> None:
    toy = Toy({16: 2.0, 32: 1.0})
    tuner = toy.tuner(["n"])
    started(tuner, "memory", 100).returns("launched with 32")
    toy.times = {16: 1.0, 32: 2.0}
    started(tuner, "memory", 200).returns("launched with 16")
    started(tuner, "memory", 100).returns("launched with 32", because="it was the fastest when it was chosen")


def test_another_dtype_is_another_key() -> None:
    toy = Toy({16: 2.0, 32: 1.0})
    tuner = toy.tuner([])
    for array, expected in ((np.zeros(2, np.int8), 3), (np.ones(5, np.int8), 1), (np.zeros(2, np.int16), 3)):
        toy.launched.clear()
        call = started(tuner, array, 100)
        call.succeeds()
        if len(toy.launched) != expected:
            call.fail(f"{expected} launches", f"{len(toy.launched)}")


def test_a_single_configuration_is_not_tried() -> None:
    toy = Toy({16: 2.0})
    tuner = toy.tuner()
    started(tuner, "memory", 100).returns("launched with 16")
    assert (toy.launched, toy.asked) == ([16], []), "there is nothing to choose, so nothing should be timed"
    assert tuner.best_config is tuner.configs[0], f"best_config is the launch's configuration, not {tuner.best_config}"


def test_an_option_of_the_launch_and_of_the_configuration() -> None:
    call = started(Toy({16: 2.0}).tuner(), "memory", 100, num_warps=8)
    call.raises(TypeError, "num_warps", because="the launch and the configuration both set num_warps")


def test_hooks_of_the_choice() -> None:
    events: list[Any] = []
    toy = Toy({16: 2.0})
    tuner = toy.tuner()
    tuner.configs = [Config({"BLOCK": 16}, pre_hook=lambda arguments: events.append(sorted(arguments)))]
    started(tuner, "memory", 100).succeeds()
    expected = sorted(["x", "n", "BLOCK", "grid", "warmup", "num_warps", "num_ctas", "num_stages"])
    assert events == [expected], f"the configuration's hook should be called once, with {expected}; got {events}"


def test_configurations_that_cannot_run_are_left_out() -> None:
    toy = Toy({16: SHARED, 32: 5.0, 64: SHARED, 128: 7.0})
    tuner = toy.tuner()
    started(tuner, "memory", 100).returns("launched with 32")
    failed = [config.kwargs["BLOCK"] for config in tuner.failures]
    assert failed == [16, 64], f"tuner.failures should have the configurations that cannot run, 16 and 64, not {failed}"


def test_only_these_configurations_are_compared() -> None:
    tuner = Toy({16: 1.0, 32: 3.0, 64: 2.0}).tuner()
    for configs, fastest in ((tuner.configs, 16), (tuner.configs[1:], 64)):
        words = f"tuner.choose({[str(config) for config in configs]}, ('memory', 100), {{}})"
        call = described(words, lambda of: tuner.choose(of, ("memory", 100), {}).kwargs["BLOCK"], configs)
        call.returns(fastest, because="16 takes 1 ms, 64 takes 2 ms, and 32 takes 3 ms")
        assert list(tuner.configs_timings) == configs, "configs_timings should have the times of these configurations"


def test_no_configuration_runs() -> None:
    tuner = Toy({16: SHARED, 32: SHARED}).tuner()
    call = started(tuner, "memory", 100)
    call.raises(AutotunerError, "BLOCK: 16", "BLOCK: 32", "shared memory", because="the user must learn why")


def test_failures_are_of_the_last_trials() -> None:
    toy = Toy({16: SHARED, 32: 1.0})
    tuner = toy.tuner(["n"])
    started(tuner, "memory", 100).succeeds()
    toy.times = {16: 1.0, 32: 2.0}
    started(tuner, "memory", 200).returns("launched with 16", because="this time, configuration 16 fits")
    assert not tuner.failures, f"nothing failed at the last choice, but tuner.failures is {tuner.failures}"


@given(st.lists(stories.SEEDS, min_size=1, max_size=5))
def test_stories_are_as_in_real_triton(seeds: list[int]) -> None:
    stories.check([scenarios.draw(seed) for seed in seeds])


# --- kernels

TEXT = """
import triton
import triton.language as tl


@triton.jit
def count(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK != 32)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
"""


def count(**options: Any) -> Any:
    """A kernel that adds 1 to its memory. One of its four configurations does not compile."""
    import mini_triton as triton

    kernel = load(TEXT, "a_kernel_that_counts.py")["count"]
    return triton.autotune([Config({"BLOCK": block}) for block in (16, 32, 64, 128)], ["n"], **options)(kernel)


def programs(meta: Any) -> tuple[int]:
    return (-(-meta["n"] // meta["BLOCK"]),)


@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_a_kernel(kind: str) -> None:
    kernel = count()
    x = np.zeros(1000, np.float32) if kind == "array" else torch.zeros(1000)
    call = described("count[grid](x, 1000) of a kernel that adds 1 to x, for the first time", kernel[programs], x, 1000)
    call.succeeds()
    if set(x.tolist()) != {1.0}:
        call.fail("x is 1 everywhere", f"x has {sorted(set(x.tolist()))}", "trials restore x")
    assert [config.kwargs["BLOCK"] for config in kernel.failures] == [32]


def test_results_are_kept_on_disk() -> None:
    timed: list[int] = []

    def bench(call: Any, quantiles: Any) -> float:
        call()
        timed.append(1)
        return float(len(timed) % 3)

    first, second = (count(cache_results=True, do_bench=bench) for _ in range(2))
    first[programs](np.zeros(777, np.float32), 777)
    tried = len(timed)
    x = np.zeros(777, np.float32)
    call = described("the first launch of a second process, with cache_results=True", second[programs], x, 777)
    call.succeeds()
    if (len(timed), second.best_config) != (tried, first.best_config):
        call.fail(
            "the choice of the first tuner, without trials", f"{second.best_config} after {len(timed) - tried} trials"
        )
    second[programs](np.zeros(778, np.float32), 778)
    assert len(timed) > tried, "a launch with another key should be tried"


def test_the_result_of_each_configuration_is_printed() -> None:
    printed = io.StringIO()
    with mock.patch.dict(os.environ, {"MINI_TRITON_PRINT_AUTOTUNING": "1"}), contextlib.redirect_stdout(printed):
        count(do_bench=lambda call, quantiles: call() or [0.25, 0.2, 0.3])[programs](np.zeros(99, np.float32), 99)
    said = printed.getvalue()
    for words in ("count", "0.2500 ms  BLOCK: 16", "<- the fastest", "cannot run  BLOCK: 32", "static_assert"):
        assert words in said, f"MINI_TRITON_PRINT_AUTOTUNING=1 should print {words!r}, but it printed\n{said}"


@one_in(5)
@given(st.integers(1, 300), st.sampled_from(["float32", "int32", "float64"]))
def test_memory_is_as_after_one_launch(n: int, dtype: str) -> None:
    x = np.arange(n).astype(dtype)
    count(do_bench=lambda call, quantiles: [call() or 1.0 for _ in range(3)])[programs](x, n)
    np.testing.assert_array_equal(x, np.arange(n).astype(dtype) + 1)
