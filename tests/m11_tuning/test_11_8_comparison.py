"""Task 11.8: who is faster, and why."""

import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernels.softmax import softmax
from mini_triton.tuning.comparison import (
    Call,
    Memory,
    Row,
    Step,
    Traffic,
    compare,
    footprint,
    gain,
    mean_gain,
    median_time,
    solve,
    traffic,
)
from mini_triton.tuning.measuring import measure
from mini_triton.tuning.peers import here, steps_of

from tests.checks import calling, described
from tests.oracles import pytorch as torch
from tests.support.m11_tuning.peers import Scene, floats, on_device
from tests.support.m11_tuning.simulated import Device, Function

# --- one call


def solved(words: str, call: Call, expected: Sequence[Any], because: str = "") -> None:
    """Require these results."""
    asked = described(f"solve(Call({words}))", solve, call)
    got = asked.succeeds(repr(expected))
    if len(got) != len(expected) or not all(map(same, got, expected)):
        asked.fail(repr(list(expected)), got, because)


def same(got: Any, expected: Any) -> bool:
    return type(got) is type(expected) and got.dtype == expected.dtype and bool((got == expected).all())


def test_results_are_what_a_run_returns_and_what_memory_holds_after_it() -> None:
    x, out, y = np.array([1.0, 2.0]), np.zeros(2), np.array([5])

    def run() -> Any:
        x[:] += 10
        out[:] = x * 2
        return out.sum(), (y,)

    expected = [np.asarray(46.0), y, np.array([11.0, 12.0]), np.array([22.0, 24.0])]
    solved("a function that changes x and out, memory=[x, out]", Call(run, [x, out]), expected)
    assert (x.tolist(), out.tolist()) == ([1.0, 2.0], [0.0, 0.0]), f"memory should be as before, but x is {x}"


def test_results_outlive_the_next_run() -> None:
    x, out = torch.ones(3), torch.zeros(3)

    def run() -> Any:
        out.add_(x)
        return out

    words = "a function that adds 1 to out and returns it, memory=[out]"
    first = described(f"solve(Call({words}))", solve, Call(run, [out])).succeeds()
    solved(words, Call(run, [out]), [torch.ones(3)] * 2, "memory is restored after each run")
    out.fill_(7)
    assert all(same(result, torch.ones(3)) for result in first), f"results should be copies, but are now {first}"


def test_memory_is_as_before_after_an_error() -> None:
    x = np.array([1.0, 2.0])

    def run() -> None:
        x[:] = 0
        raise ZeroDivisionError

    asked = described("solve(Call(a function that changes x, then raises an error, memory=[x]))", solve, Call(run, [x]))
    asked.raises(ZeroDivisionError)
    if x.tolist() != [1.0, 2.0]:
        asked.fail("x is [1.0, 2.0] afterwards", f"x is {x}", "the other peers start with the same memory")


def test_a_run_without_results() -> None:
    solved("a function that returns None", Call(lambda: None), [])


DURATIONS = st.lists(st.integers(1, 2**8).map(lambda n: n / 8), min_size=1, max_size=7)


@given(DURATIONS, st.sampled_from([0.0, 5.0, 20.0]), st.sampled_from([0.0, 10.0, 60.0]))
@example([1.0, 1.0, 30.0], 0.0, 60.0)
def test_the_median_of_the_times(times: list[float], warmup: float, rep: float) -> None:
    function, twin = (Function(Device(), times, cold=2.0) for _ in range(2))
    words = f"median_time(device, Call(fn), {warmup}, {rep}) of a function that takes {times} ms"
    asked = described(words, median_time, function.device, Call(function), warmup, rep)
    got = asked.succeeds("a time")
    expected = float(np.median(measure(twin.device, twin, warmup, rep)))
    if not math.isclose(got, expected, rel_tol=1e-12):
        asked.fail(repr(expected), got, "it is the median of the times that measure returns")


@given(st.integers(0, 8), st.sampled_from([0.0, 8.0]), st.sampled_from([8.0, 64.0]))
def test_each_timed_run_finds_memory_as_it_was(start: int, warmup: float, rep: float) -> None:
    device = Device()
    x, y = on_device(device, [start]), on_device(device, [0.0])
    base = Function(device, [4.0], cold=2.0)

    def run() -> None:
        base()
        device.queue(float(x[0] - start) + float(y[0]))  # the work grows with what earlier runs left behind
        np.asarray(x)[:] += 1
        np.asarray(y)[:] += 1

    words = "median_time(device, Call(fn, [x, y])) of a function that takes 6 ms at first, and longer with each run"
    asked = described(words, median_time, device, Call(run, [x, y]), warmup, rep)
    got = asked.succeeds("6.0")
    if got != 6.0:
        asked.fail("6.0", got, "x and y are restored before each timed run, which is not part of its time")
    if (x[0], y[0]) != (start, 0):
        asked.fail(f"x = {start}, y = 0 afterwards", f"x = {x[0]}, y = {y[0]}")


# --- bytes


SHAPES = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0, 1, -1])), max_size=3)


@given(SHAPES, st.sampled_from([1, 2, 4, 8]))
@example([(3, 0), (4, 1)], 4)
@example([(0, 0)], 4)
@example([(3, -1)], 4)
@example([], 8)
def test_footprint(axes: list[tuple[int, int]], itemsize: int) -> None:
    shape = tuple(size for size, _ in axes)
    contiguous = np.empty(shape, f"V{itemsize}").strides
    strides = tuple(way * step // itemsize for (_, way), step in zip(axes, contiguous, strict=True))
    places = {sum(map(math.prod, zip(at, strides, strict=True))) for at in itertools.product(*map(range, shape))}
    calling(footprint, Memory(4096, shape, strides, itemsize)).returns(
        len(places) * itemsize, because=f"the elements occupy {len(places)} places of {itemsize} bytes"
    )


def moved(steps: list[Step], expected: Traffic, because: str) -> None:
    calling(traffic, steps).returns(expected, because)


def test_an_array_moves_once_in_each_direction() -> None:
    x, y = floats(0, 100), floats(4096, 100)
    moved([Step("double", [x, x], [y])], Traffic(1, 800), "x + x reads x once")
    moved([Step("increment", [x], [x])], Traffic(1, 800), "x += 1 reads x and writes it")
    moved([Step("store twice", [], [y, y])], Traffic(1, 400), "both stores write the same memory")
    moved([Step("double", [x], [y]), Step("double", [x], [y])], Traffic(2, 1600), "the second launch reads x again")
    moved([], Traffic(0, 0), "nothing happens")


def test_equal_shapes_may_be_different_memory() -> None:
    x, y, row = floats(0, 8, 8), floats(4096, 8, 8), floats(0, 8, 8, strides=(0, 1))
    moved([Step("add", [x, y], [y])], Traffic(1, 768), "x and y are at different addresses")
    moved([Step("add a row", [y, row], [y])], Traffic(1, 544), "the expanded row has 8 elements")
    moved([Step("subtract", [x, row], [y])], Traffic(1, 544), "x and row start at the same address, but differ")


@given(st.integers(1, 40), st.integers(2, 50))
def test_steps_of_softmax(rows: int, columns: int) -> None:
    x = torch.ones(rows, columns)

    def by_hand() -> Any:
        numerator = (x - x.amax(1, keepdim=True)).exp()
        return numerator / numerator.sum(1, keepdim=True)

    matrix, column = 4 * rows * columns, 4 * rows
    moved(
        steps_of(by_hand),
        Traffic(5, 8 * matrix + 4 * column),
        f"amax, sub, exp, sum and div read a matrix of {matrix} bytes five times and write three; twice, they write a "
        f"column of {column} bytes, and twice they read one",
    )
    moved(steps_of(lambda: softmax(x)), Traffic(1, 2 * matrix), "our kernel reads x once and writes the result once")


# --- all peers


ONES = np.ones(3, np.float32)


def compared(peers: list[Any], *arguments: Any, **options: Any) -> described:
    names = ", ".join(peer.name for peer in peers)
    return described(f'compare("p", [{names}])', compare, "p", peers, *arguments, **options)


def test_all_are_checked_before_any_is_timed() -> None:
    scene = Scene()
    names = ["judge", "ours", "other"]
    peers = [scene.peer(name, [ONES], times) for name, times in zip(names, [[4, 9], [1, 5], [2, 8]], strict=True)]
    asked = compared(peers, 4)
    row = asked.succeeds()
    solves, times = [[(name, what) for name in names] for what in ("solve", "time")]
    assert scene.story == solves + times * 4, f"each is asked for results, then each once a turn:\n{scene.story}"
    if row != Row("p", {"judge": 6.5, "ours": 3.0, "other": 5.0}):
        asked.fail("the median of each peer's four turns", row)


def test_three_turns_unless_asked_for_others() -> None:
    scene = Scene()
    row = compared([scene.peer("judge", [], [1, 7, 2]), scene.peer("ours", [], [3, 9, 1])]).succeeds()
    assert scene.story.count(("ours", "time")) == 3, scene.story
    assert row.times == {"judge": 2, "ours": 3}, row


WRONG: dict[str, list[Any]] = {
    "a result": [ONES, ONES + 1e-3],
    "one element": [ONES, np.array([1, 1, 1.001], np.float32)],
    "NaN": [ONES, np.array([1, np.nan, 1], np.float32)],
    "its shape": [ONES, ONES[None]],
    "too few": [ONES],
    "too many": [ONES, ONES, ONES],
    "too few, and the first": [ONES + 1],
    "nothing": [],
}


@pytest.mark.parametrize("what", WRONG)
def test_who_is_wrong_is_never_timed(what: str) -> None:
    scene = Scene()
    steps = [Step("k", [], [floats(0, 5)])]
    peers = [scene.peer("judge", [ONES, ONES], [8], steps), scene.peer("wrong", WRONG[what], [1], steps)]
    peers.append(scene.peer("ours", [ONES, ONES], [2]))
    asked = compared(peers)
    row = asked.succeeds()
    if (dict(row.times), dict(row.traffic)) != ({"judge": 8, "ours": 2}, {"judge": Traffic(1, 20)}):
        asked.fail("times of judge and ours only", row, f"the results of wrong differ: {what}")
    assert list(row.refused) == ["wrong"], f"refused should have the reason for `wrong`, and nothing else: {row}"
    assert scene.story.count(("wrong", "time")) == 0, f"a refused peer was timed: {scene.story}"
    if len(WRONG[what]) == 2:
        assert "result 1" in row.refused["wrong"], f"the second result differs, not {row.refused['wrong']!r}"
        assert "AssertionError" in row.refused["wrong"], row.refused
    else:
        named = ["ValueError", str(len(WRONG[what])), "2"]
        assert all(word in row.refused["wrong"] for word in named), f"{named} should be in {row.refused['wrong']!r}"


def test_the_tolerance_follows_from_the_dtype() -> None:
    values = np.linspace(1, 2, 50)
    for dtype, near, far in ((np.float16, 1e-3, 1e-2), (np.float32, 1e-6, 1e-4), (np.float64, 1e-15, 1e-12)):
        for share, accepted in ((near, True), (far, False)):
            scene, got = Scene(), (values * (1 + share)).astype(dtype)
            row = compared([scene.peer("judge", [values.astype(dtype)]), scene.peer("ours", [got])]).succeeds()
            assert ("ours" in row.times) is accepted, f"{dtype.__name__}, off by {share:g} of each element: {row}"


def test_equal_nans_and_infinities_are_right() -> None:
    scene, special = Scene(), np.array([np.nan, np.inf, -np.inf, 0], np.float32)
    row = compared([scene.peer("judge", [special]), scene.peer("ours", [special.copy()])]).succeeds()
    assert not row.refused, row


def test_an_error_refuses_one_peer_only() -> None:
    for error in (ZeroDivisionError("by zero"), NotImplementedError("Task 8.2"), KeyError("x")):
        scene = Scene()
        bad, worse = scene.peer("bad", error, steps=[]), scene.peer("worse", [ONES + 1])
        row = compared([scene.peer("judge", [ONES]), bad, worse, scene.peer("ours", [ONES])]).succeeds()
        assert (list(row.times), list(row.refused)) == (["judge", "ours"], ["bad", "worse"]), row
        reason = row.refused["bad"]
        assert type(error).__name__ in reason and str(error) in reason, f"{error!r} became {reason!r}"


def test_an_error_of_the_judge_and_an_interruption_propagate() -> None:
    scene = Scene()
    compared([scene.peer("judge", ZeroDivisionError()), scene.peer("ours", [])]).raises(ZeroDivisionError)
    with pytest.raises(KeyboardInterrupt):
        compare("p", [scene.peer("judge", []), scene.peer("ours", KeyboardInterrupt())])
    assert {what for _, what in scene.story} == {"solve"}, f"nothing should be timed: {scene.story}"


def test_another_way_to_compare() -> None:
    scene, seen = Scene(), []

    def close(got: Any, expected: Any, err_msg: str) -> None:
        seen.append((got, expected, err_msg))
        if got == "bad":
            raise RuntimeError(f"{err_msg}: bad")

    peers = [scene.peer("judge", ["a", "b"]), scene.peer("ours", ["c", "d"]), scene.peer("wrong", ["e", "bad"])]
    row = compared(peers, close=close).succeeds()
    expected = [("c", "a", "result 0"), ("d", "b", "result 1"), ("e", "a", "result 0"), ("bad", "b", "result 1")]
    assert seen == expected, f"close takes the result, then the expected one:\n{seen}"
    assert row.refused == {"wrong": "RuntimeError: result 1: bad"}, row


def test_traffic_of_peers_whose_steps_are_known() -> None:
    scene = Scene()
    peers = [scene.peer("judge", [ONES]), scene.peer("ours", [ONES], [1], [Step("k", [floats(0, 3)], [floats(64, 3)])])]
    row = compared([*peers, scene.peer("idle", [ONES], [1], [])]).succeeds()
    assert row.traffic == {"ours": Traffic(1, 24), "idle": Traffic(0, 0)}, row


def test_our_softmax_beside_pytorchs() -> None:
    x = torch.linspace(-4, 4, 300).view(3, 100)
    calls = {"torch": lambda: x.softmax(1), "ours": lambda: softmax(x), "columns": lambda: softmax(x.T.contiguous()).T}
    peers = [here(name, partial(Call, run)) for name, run in calls.items()]
    row = described(
        "compare(...) of softmax by PyTorch, by our kernel, and along the other axis", compare, "softmax", peers
    )
    got = row.succeeds()
    assert set(got.times) == {"torch", "ours"} and all(time > 0 for time in got.times.values()), got
    assert got.traffic == dict.fromkeys(("torch", "ours"), Traffic(1, 2400)), got
    assert "result 0" in got.refused["columns"], got


# --- gains


@given(st.floats(0.01, 100), st.floats(0.01, 100))
@example(4.0, 2.0)
def test_gain(theirs: float, ours: float) -> None:
    row = Row("p", {"torch": theirs, "ours": ours, "mine": 2 * ours})
    calling(gain, row, "torch").returns(theirs / ours, because="a gain above 1 says that ours takes less time")
    calling(gain, row, "torch", "mine").returns(theirs / (2 * ours))


def test_no_gain_without_a_time() -> None:
    row = Row("p", {"torch": 2.0, "ours": 1.0}, refused={"Triton": "wrong"})
    for peer, ours in (("Triton", "ours"), ("absent", "ours"), ("torch", "Triton"), ("absent", "Triton")):
        calling(gain, row, peer, ours).returns(None, because="one of both has no time; 0 or 1 would be a claim")


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100), st.booleans()), min_size=1, max_size=8))
@example([(2.0, 1.0, True), (1.0, 2.0, True), (9.0, 1.0, False)])
@example([(100.0, 0.01, True)] * 100)
def test_mean_gain(times: list[tuple[float, float, bool]]) -> None:
    rows = [Row("p", {"torch": theirs, "ours": ours} if both else {"ours": ours}) for theirs, ours, both in times]
    logs = [np.log(theirs / ours) for theirs, ours, both in times if both]
    for peer, ours, sign in (("torch", "ours", 1), ("ours", "torch", -1)):
        asked = calling(mean_gain, rows, peer, ours)
        got, expected = asked.succeeds(), float(np.exp(sign * np.mean(logs))) if logs else None
        if got is None or expected is None:
            if got is not expected:
                asked.fail(repr(expected), got, "rows without a gain do not count")
        elif not math.isclose(got, expected, rel_tol=1e-9):
            asked.fail(repr(expected), got, "the logarithm of this mean is the mean of the logarithms")


def test_mean_of_nothing() -> None:
    calling(mean_gain, [], "torch").returns(None)
