"""Task 11.2: a trial of a configuration starts with the right memory, and restores it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_triton.errors import OutOfResources
from mini_triton.tuning.autotuner import Autotuner, Config

from tests.checks import described, one_in
from tests.oracles import pytorch as torch
from tests.support.m11_tuning import scenarios, stories

MEMORY = st.sampled_from(["array", "tensor"])


class Toy:
    """Stands for a kernel: adds n to its memory, and records the old values."""

    arg_names = ["x", "y", "n", "BLOCK"]

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.found: list[list[float]] = []

    def run(self, x: Any, y: Any, n: int, **_: Any) -> None:
        self.found.append([*x.tolist(), *y.tolist()])
        x += n
        y += n
        if self.error:
            raise self.error


def memory(kind: str, *values: float) -> Any:
    return np.array(values, np.float32) if kind == "array" else torch.tensor(values)


def tuner(toy: Toy, reset: tuple[str, ...] = (), restored: tuple[str, ...] = (), **options: Any) -> Autotuner:
    return Autotuner(toy, toy.arg_names, [Config({"BLOCK": 16})], ["n"], reset, restored, **options)


def tried(tuner: Autotuner, x: Any, y: Any, config: Config | None = None) -> described:
    """The call of `trial` for a launch with these arguments."""
    config = config or tuner.configs[0]
    tuner.nargs = {"x": x, "y": y, "n": 3}
    named = f"reset_to_zero={tuner.reset_to_zero}, restore_value={tuner.restore_value}"
    words = f"tuner.trial(Config({{'BLOCK': 16}}), (x, y, 3), {{}}) with {named}, of a kernel that adds 3 to x and y"
    return described(words, tuner.trial, config, (x, y, 3), {})


def holds(call: described, words: str, got: Any, expected: Any, because: str) -> None:
    """Fail unless `got` equals `expected`."""
    if got != expected:
        call.fail(f"{words}: {expected}", f"{words}: {got}", because)


@given(MEMORY)
def test_memory_is_restored(kind: str) -> None:
    toy, x, y = Toy(), memory(kind, 1, 2), memory(kind, 5)
    call = tried(tuner(toy, restored=("x",)), x, y)
    for _ in range(3):
        call.succeeds()
    holds(call, "what the kernel found", toy.found, [[1, 2, 5], [1, 2, 8], [1, 2, 11]], "only x is restored")
    holds(call, "x afterwards", x.tolist(), [1, 2], "each trial restores x")
    holds(call, "y afterwards", y.tolist(), [14], "restore_value does not list y")


@given(MEMORY)
def test_memory_is_zeroed(kind: str) -> None:
    toy, x, y = Toy(), memory(kind, 1, 2), memory(kind, 5)
    call = tried(tuner(toy, reset=("y",)), x, y)
    for _ in range(2):
        call.succeeds()
    holds(call, "what the kernel found", toy.found, [[1, 2, 0], [4, 5, 0]], "y is set to 0 before each trial")


@given(MEMORY)
def test_zeroed_and_restored(kind: str) -> None:
    toy, x, y = Toy(), memory(kind, 1, 2), memory(kind, 5)
    call = tried(tuner(toy, reset=("x",), restored=("x", "y")), x, y)
    call.succeeds()
    holds(call, "what the kernel found", toy.found, [[0, 0, 5]], "x is set to 0 first")
    holds(
        call,
        "x and y afterwards",
        [x.tolist(), y.tolist()],
        [[0, 0], [5]],
        "restored values are those at the start of the trial",
    )


@given(MEMORY)
def test_reset_only(kind: str) -> None:
    x, y = memory(kind, 1, 2), memory(kind, 5)
    tuned = tuner(Toy(), reset=("x",), restored=("y",))
    arguments = {"x": x, "y": y, "n": 3}
    call = described(
        "tuner.prepare({'x': …, 'y': …, 'n': 3}, reset_only=True)", tuned.prepare, arguments, reset_only=True
    )
    call.succeeds()
    holds(call, "x", x.tolist(), [0, 0], "x is in reset_to_zero")
    holds(call, "copies", tuned.restore_copies, {}, "no trial follows, so nothing needs to be copied")


def test_absent_memory() -> None:
    tuned = tuner(Toy(), reset=("x",), restored=("y",))
    call = described("tuner.prepare({'x': None, 'y': None})", tuned.prepare, {"x": None, "y": None})
    call.succeeds(because="kernels may have optional arguments")
    described("tuner.restore({'x': None, 'y': None}, None)", tuned.restore, {"x": None, "y": None}, None).succeeds()
    call = described("tuner.prepare({'n': 3})", tuned.prepare, {"n": 3})
    call.succeeds(because="a launch need not pass optional arguments")


@given(MEMORY)
def test_memory_is_restored_if_the_launch_fails(kind: str) -> None:
    for error in (OutOfResources(2, 1, "shared memory"), ValueError("wrong")):
        x, y = memory(kind, 1, 2), memory(kind, 5)
        tuned = tuner(Toy(error), restored=("x",))
        call = tried(tuned, x, y)
        call.raises(type(error), str(error), because="the caller handles the error")
        holds(call, "x afterwards", x.tolist(), [1, 2], "the launch had changed x before the launch failed")
        holds(call, "tuner.restore_copies", tuned.restore_copies, {}, "copies must not outlive a trial that fails")


def test_ctrl_c_ends_a_trial() -> None:
    toy, x = Toy(KeyboardInterrupt()), memory("array", 1)
    call = tried(tuner(toy, restored=("x",)), x, memory("array", 2))
    try:
        call()
    except KeyboardInterrupt:
        toy.error = None
        x[:] = 9
        call.succeeds()
        holds(call, "x after the next trial", x.tolist(), [9], "the user set x to 9 after pressing Ctrl-C")
        return
    call.fail("KeyboardInterrupt is raised", "no error", "a user who presses Ctrl-C wants to end the program")


def test_copies_are_forgotten() -> None:
    tuned = tuner(Toy(), restored=("x", "y"))
    call = tried(tuned, memory("array", 1), memory("array", 2))
    call.succeeds()
    holds(call, "tuner.restore_copies", tuned.restore_copies, {}, "copies of large memory must not outlive a trial")


def test_hooks_of_the_user() -> None:
    """The user's hooks replace what `prepare` and `restore` do, and receive all arguments."""
    events: list[Any] = []

    def before(arguments: Any, reset_only: bool = False) -> None:
        events.append(("before", dict(arguments)))

    def after(arguments: Any, *, exception: Exception | None) -> None:
        events.append(("after", arguments["BLOCK"], exception))

    toy = Toy()
    config = Config({"BLOCK": 16}, num_warps=8, pre_hook=lambda arguments: events.append("of the configuration"))
    call = tried(tuner(toy, pre_hook=before, post_hook=after), memory("array", 1), memory("array", 2), config)
    call.succeeds()
    names = [sorted(events[1][1]) if len(events) > 1 else None]
    expected = sorted(["x", "y", "n", "BLOCK", "num_warps", "num_ctas", "num_stages"])
    order = [event if isinstance(event, str) else event[0] for event in events]
    holds(
        call,
        "order of the hooks",
        order,
        ["of the configuration", "before", "after"],
        "the configuration's own hook runs first",
    )
    holds(call, "arguments of a hook", names, [expected], "the arguments include those of the configuration")
    holds(call, "what post_hook gets", events[2][1:], (16, None), "without an error `exception` is None")


def test_post_hook_gets_the_error() -> None:
    error, seen = KeyError("the kernel's own"), []
    tuned = tuner(Toy(error), post_hook=lambda arguments, *, exception: seen.append(exception))
    call = tried(tuned, memory("array", 1), memory("array", 2))
    with pytest.raises(KeyError) as raised:
        call()
    holds(
        call,
        "the raised error, and the error that post_hook gets",
        [raised.value, *seen],
        [error, error],
        "both are the same error",
    )


@pytest.mark.parametrize(("wrong", "expected"), [("before", ["before"]), ("after", ["before", "launch", "after"])])
def test_an_error_of_a_hook_ends_the_trial(wrong: str, expected: list[str]) -> None:
    events: list[str] = []

    def hook(name: str) -> None:
        events.append(name)
        if name == wrong:
            raise RuntimeError(f"{name} the launch")

    class Telling(Toy):
        def run(self, x: Any, y: Any, n: int, **_: Any) -> None:
            events.append("launch")

    before, after = (lambda arguments: hook("before")), (lambda arguments, exception: hook("after"))
    tuned = tuner(Telling(), pre_hook=before, post_hook=after)
    call = tried(tuned, memory("array", 1), memory("array", 2))
    call.raises(RuntimeError, f"{wrong} the launch", because="no error is swallowed")
    holds(call, "calls", events, expected, "the exception that post_hook gets is the launch's")


@one_in(2)
@given(st.lists(stories.SEEDS, min_size=1, max_size=5))
def test_trials_are_as_in_real_triton(seeds: list[int]) -> None:
    stories.check([scenarios.simple(scenarios.draw(seed)) for seed in seeds], "trials")
