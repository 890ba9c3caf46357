"""Task 11.1: how long a function takes."""

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from mini_triton.compat import driver
from mini_triton.tuning.measuring import do_bench_on, measure, quantile
from mini_triton.tuning.timers import do_bench

from tests.checks import calling, described
from tests.oracles import tuning
from tests.support.m11_tuning.simulated import Device, Function, Question, Tensor

TIMES = st.lists(st.integers(1, 2**10).map(lambda n: n / 16), min_size=1, max_size=9)


# --- quantiles


@given(TIMES, st.integers(0, 20).map(lambda n: n / 20))
@example([4.0, 1.0, 2.0], 0.5)
@example([4.0, 1.0, 2.0], 0.25)
@example([7.0], 0.3)
@example([1.0, 2.0], 1.0)
def test_quantiles(times: list[float], q: float) -> None:
    call = calling(quantile, tuple(times), q)
    expected = float(np.quantile(times, q))
    got = call.succeeds(repr(expected))
    if abs(got - expected) > 1e-9:
        call.fail(repr(expected), got, "numpy.quantile also interpolates linearly between two times")


def test_shares_beyond_0_and_1() -> None:
    for q in (-0.1, 1.1, 20):
        calling(quantile, [1.0, 2.0], q).raises(ValueError, because="a quantile is a number from 0 to 1")


# --- on a simulated device


def timed(times: Sequence[float], warmup: float = 8.0, rep: float = 64.0, **options: Any) -> tuple[described, Function]:
    """The call of `measure` for a function whose runs take these times, one after the other."""
    function = Function(Device(**options), times, cold=2.0)
    words = f"measure(device, fn, {warmup}, {rep}) of a function that takes {times} ms, and 2 ms more with a cold cache"
    return described(words, measure, function.device, function, warmup, rep), function


def test_what_is_timed_finds_a_cleared_cache() -> None:
    call, _ = timed([6.0])
    got = call.succeeds("times of 8.0")
    if set(got) != {8.0}:
        call.fail("8.0 each time", got, "6 ms, and 2 ms for the cold cache")


def test_how_often_it_runs() -> None:
    call, function = timed([5.5], warmup=16.0, rep=64.0)  # 8 ms with a cold cache and with clearing it
    got = call.succeeds("a list of 8 times")
    if len(got) != 8:
        call.fail("8 times", f"{len(got)} times", "a run takes an estimated 8 ms, so 8 runs fit into 64 ms")
    if function.runs != 1 + 5 + 2 + 8:
        call.fail(
            "16 runs", f"{function.runs} runs", "1 run compiles, 5 give the estimate, 2 warm up for 16 ms, 8 are timed"
        )


def test_times_are_in_the_order_of_the_runs() -> None:
    call, function = timed([3.0, 1.0, 2.0])
    got = call.succeeds("a time for each timed run")
    expected = [function.times[run % 3] + 2.0 for run in range(function.runs - len(got), function.runs)]
    if got != expected:
        call.fail(repr(expected), got, "the times are those of the last runs, in order")


def test_when_the_cache_is_cleared() -> None:
    call, function = timed([5.5], warmup=16.0, rep=64.0)
    call.succeeds()
    cleared = function.device.cleared
    if cleared != [1, 2, 3, 4, 5, *range(8, 16)]:
        call.fail(
            "the cache is cleared before runs 1 to 5 and 8 to 15, counted from 0",
            f"it is cleared before runs {cleared}",
            "runs 1 to 5 give the estimate, and runs 8 to 15 are timed; runs 6 and 7 warm up",
        )


def test_a_long_function_runs_once_at_least() -> None:
    call, function = timed([500.0], warmup=0.0, rep=0.0)
    got = call.succeeds("[502.0]")
    if (got, function.runs) != ([502.0], 8):
        call.fail("[502.0], after 8 runs", f"{got}, after {function.runs} runs")


def test_a_function_that_is_faster_than_the_clock() -> None:
    function = Function(Device(flush=0.0, launch=0.0), [0.0], cold=0.0)
    call = described(
        "measure(device, fn, 25, 100) of a function that takes 0 ms", measure, function.device, function, 25, 100
    )
    got = call.succeeds("1000 measurements of 0.0 ms")
    if (got, function.runs) != ([0.0] * 1000, 2006):
        call.fail("1000 measurements of 0.0 ms, after 2006 runs", f"{len(got)}, after {function.runs} runs")


def test_nothing_waits_within_a_group_of_runs() -> None:
    call, function = timed([0.0625], rep=16.0)  # a launch takes longer than the function
    call.succeeds("times")
    waits = function.device.waits
    if not {*waits} <= {0, 1, 1 + 5, function.runs}:
        because = "a kernel that is shorter than its launch would wait for the host"
        call.fail(f"synchronize() after 1, 6 or all {function.runs} runs", f"synchronize() after {waits} runs", because)


def test_gradients_are_reset_to_none() -> None:
    device = Device()

    class Slow(Tensor):
        def __setattr__(self, name: str, value: Any) -> None:
            device.now += 8.0 if value is None else 0.0
            super().__setattr__(name, value)

    function = Function(device, [4.0], cold=0.0, gradients=[Slow(), Slow()], accumulate=3.0)
    call = described(
        "measure(device, fn, 8, 64, [x, y]) of a function that takes 4 ms, and 3 ms more for each existing gradient;"
        " to reset a gradient takes 8 ms",
        measure, function.device, function, 8, 64, function.gradients,
    )  # fmt: skip
    got = call.succeeds("times of 4.0")
    if set(got) != {4.0}:
        because = "gradients are set to None before each timed run, and this is not part of the run's time"
        call.fail("4.0 each time", got, because)


QUESTIONS = st.builds(
    Question,
    times=TIMES.map(tuple),
    cold=st.integers(0, 64).map(lambda n: n / 8),
    warmup=st.sampled_from([0.0, 5.0, 25.0, 40.0]),
    rep=st.sampled_from([0.0, 10.0, 100.0]),
    gradients=st.integers(0, 2),
    accumulate=st.integers(0, 16).map(lambda n: n / 8),
    quantiles=st.sampled_from([None, (0.5,), (0.5, 0.2, 0.8), (0.0, 1.0)]),
    return_mode=st.sampled_from(["min", "max", "mean", "median", "all"]),
)


@given(st.lists(QUESTIONS, min_size=1, max_size=8))
def test_as_real_triton_does(questions: list[Question]) -> None:
    calls = []
    for question in questions:
        function = question.function()
        options = question.options(function)
        words = f"do_bench(fn, {', '.join(f'{name}={value}' for name, value in options.items())}) for {question}"
        call = described(words, do_bench_on, function.device, function, **options)
        calls.append((call, call.succeeds("real Triton's answer"), function.runs))
    for (call, got, runs), (expected, wanted) in zip(calls, tuning.time(questions), strict=True):
        if not close(got, expected) or runs != wanted:
            call.fail(f"{expected}, after {wanted} runs", f"{got}, after {runs} runs", "real Triton's do_bench does so")


def close(got: Any, expected: Any) -> bool:
    """Whether two numbers are equal, apart from a rounding error."""
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(close, got, expected))
    return abs(Fraction(got) - Fraction(expected)) <= abs(Fraction(expected)) / 2**48


# --- on this machine


def test_on_this_machine() -> None:
    with_sleep = described("do_bench(lambda: time.sleep(0.002))", do_bench_on, driver.cpu, lambda: time.sleep(0.002))
    got = with_sleep.succeeds("2.0 at least")
    if not 2.0 <= got < 200.0:
        with_sleep.fail("2 ms or a little more", got)
    times = calling(do_bench, lambda: None, warmup=1, rep=1, return_mode="all").succeeds("a list of times")
    assert all(time >= 0 for time in times), f"times are not negative, but do_bench(lambda: None) has {min(times)}"
